-- Probabilities that are no distribution, or missing ones whose status does not say so.
SELECT   model,
         format('{} at {} severity {}: ', sample_id, corruption, severity)
         || CASE WHEN p IS NULL THEN 'no probabilities, yet the status is ok'
                 ELSE format('probabilities {} do not add to one', CAST(p AS VARCHAR))
            END AS fault
FROM     predictions
WHERE    CASE WHEN p IS NULL THEN status = 'ok' ELSE NOT is_distribution(p) END
ORDER BY ALL
