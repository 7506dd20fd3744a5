-- Every prediction's scores: one row per model, sample and condition, clean and blank included.
SELECT   predictions.model,
         predictions.sample_id,
         predictions.corruption,
         predictions.severity,
         confidence(p)                      AS confidence,
         is_correct(p, answer)              AS correct,
         normalized_entropy(p)              AS uncertainty,
         misalignment(p, answer)            AS misalignment,
         brier(p, answer)                   AS brier,
         negative_log_likelihood(p, answer) AS nll
FROM     predictions
JOIN     samples USING (sample_id)
ORDER BY ALL
