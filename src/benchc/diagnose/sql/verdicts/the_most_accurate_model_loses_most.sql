-- "The model with the best clean accuracy had the largest loss and the most negative RAS": it is
-- below even the lowest of the others, in RAS and in what it loses of its accuracy.
WITH whole AS (
    SELECT scope, model, clean_accuracy, measure, value
    FROM   (UNPIVOT measures ON ras, accuracy_change INTO NAME measure VALUE value)
    WHERE  crossing = 'all' AND n_pairs > 0
),
best AS (
    SELECT   scope, model
    FROM     whole
    QUALIFY  row_number() OVER (PARTITION BY scope ORDER BY clean_accuracy DESC, model) = 1
),
rival AS (
    SELECT   scope, measure, whole.model AS other
    FROM     whole
    JOIN     best USING (scope)
    WHERE    whole.model <> best.model
    QUALIFY  row_number() OVER (PARTITION BY scope, measure ORDER BY value, whole.model) = 1
)
SELECT   scope,
         CAST(NULL AS VARCHAR) AS model,
         format('{} of {}, best on clean pictures, minus that of {}, lowest of the others',
                measure, model, other) AS contrast,
         'negative'            AS expected,
         difference            AS value,
         low,
         high
FROM     comparisons
JOIN     best  USING (scope, model)
JOIN     rival USING (scope, measure, other)
WHERE    crossing = 'all'
