-- Each model owes every one of its samples under every one of its conditions, clean included.
WITH conditions AS (
    SELECT DISTINCT model, corruption, severity FROM predictions
    UNION
    SELECT DISTINCT model, 'clean', 0 FROM predictions
),
asked AS (
    SELECT DISTINCT model, sample_id FROM predictions
)
SELECT   model, format('{} lacks {} severity {}', sample_id, corruption, severity) AS fault
FROM     asked
JOIN     conditions USING (model)
ANTI JOIN predictions USING (model, sample_id, corruption, severity)
ORDER BY ALL
