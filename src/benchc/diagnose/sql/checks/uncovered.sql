-- Kept and control samples that a model was not run on.
WITH wanted AS (
    SELECT sample_id, CASE WHEN kept THEN 'kept' ELSE 'control' END AS part
    FROM   selection
    WHERE  kept OR control
)
SELECT   model, format('{} ({}) was not asked', sample_id, part) AS fault
FROM     (SELECT DISTINCT model FROM predictions)
CROSS JOIN wanted
ANTI JOIN predictions USING (model, sample_id)
ORDER BY ALL
