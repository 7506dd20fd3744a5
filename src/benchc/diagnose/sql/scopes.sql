-- The samples that a model's figures are taken over. A scope counts only where the model was run
-- on all of it: the kept and the control samples always, the whole pool for selectors.
WITH wanted AS (
    SELECT 'selection' AS scope, sample_id FROM selection WHERE kept
    UNION ALL
    SELECT 'control', sample_id FROM selection WHERE control
    UNION ALL
    SELECT 'pool', sample_id FROM selection
),
sizes AS (
    SELECT scope, count(*) AS size FROM wanted GROUP BY scope
),
run AS (
    SELECT DISTINCT model, sample_id FROM shifts
),
covered AS (
    SELECT scope, model, count(*) AS size
    FROM   wanted
    JOIN   run USING (sample_id)
    GROUP BY scope, model
)
SELECT   scope, model, sample_id
FROM     wanted
JOIN     sizes USING (scope)
JOIN     covered USING (scope, size)
ORDER BY scope, model, sample_id
