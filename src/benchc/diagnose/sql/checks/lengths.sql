-- One probability and one logit per option.
SELECT   model,
         format('{} at {} severity {} has {} probabilities and {} logits for {} options',
                sample_id, corruption, severity, len(p), len(logits), len(options)) AS fault
FROM     predictions
JOIN     samples USING (sample_id)
WHERE    len(p) <> len(options)
   OR    len(logits) <> len(options)
ORDER BY ALL
