-- "The model with the best clean accuracy had the largest loss and the most negative RAS": it is
-- below even the lowest of the others, in RAS and in what it loses of its accuracy.
WITH whole AS (
    SELECT scope, model, clean_accuracy, measure, value
    FROM   (UNPIVOT measures ON ras, accuracy_change INTO NAME measure VALUE value)
    WHERE  crossing = 'all'
),
best AS (
    SELECT   scope, measure, model
    FROM     whole
    QUALIFY  row_number() OVER (PARTITION BY scope, measure
                                ORDER BY clean_accuracy DESC, model) = 1
),
rival AS (
    SELECT   scope, measure, whole.model AS other
    FROM     whole
    JOIN     best USING (scope, measure)
    WHERE    whole.model <> best.model
    QUALIFY  row_number() OVER (PARTITION BY scope, measure ORDER BY value, whole.model) = 1
)
SELECT   scope,
         CAST(NULL AS VARCHAR) AS model,
         format('{} of {} minus that of {}',
                CASE measure WHEN 'ras' THEN 'RAS' ELSE 'accuracy change' END,
                model, coalesce(other, 'no other model')) AS contrast,
         'negative'            AS expected,
         difference            AS value,
         low,
         high
FROM     best
LEFT JOIN rival USING (scope, measure)
LEFT JOIN (SELECT * FROM comparisons WHERE crossing = 'all')
         USING (scope, measure, model, other)
