-- What each model answered about one sample, on the clean picture and under one condition; a model
-- that was not asked has a row that says so.
WITH conditions AS (
    SELECT 'clean' AS corruption, 0 AS severity
    UNION
    SELECT $corruption, $severity
)
SELECT     model, corruption, severity, p, top1, is_tie, correct, ras,
           coalesce(status, 'not asked') AS status
FROM       models
CROSS JOIN conditions
LEFT JOIN  (FROM predictions WHERE sample_id = $sample_id) USING (model, corruption, severity)
LEFT JOIN  (SELECT model, corruption, severity, correct
            FROM   scores
            WHERE  sample_id = $sample_id)                 USING (model, corruption, severity)
LEFT JOIN  (SELECT model, corruption, severity, ras
            FROM   shifts
            WHERE  sample_id = $sample_id)                 USING (model, corruption, severity)
ORDER BY   model, corruption <> 'clean'
