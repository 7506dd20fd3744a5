-- "Clean accuracy does not predict RAS": some other model has a better RAS than the one with the
-- best clean accuracy. The best RAS of the others stands for them.
WITH whole AS (
    SELECT scope, model, clean_accuracy, ras FROM measures WHERE crossing = 'all' AND n_pairs > 0
),
best AS (
    SELECT   scope, model
    FROM     whole
    QUALIFY  row_number() OVER (PARTITION BY scope ORDER BY clean_accuracy DESC, model) = 1
),
rival AS (
    SELECT   scope, whole.model AS other
    FROM     whole
    JOIN     best USING (scope)
    WHERE    whole.model <> best.model
    QUALIFY  row_number() OVER (PARTITION BY scope ORDER BY ras DESC, whole.model) = 1
)
SELECT   scope,
         CAST(NULL AS VARCHAR) AS model,
         format('RAS of {} minus that of {}', model, coalesce(other, 'no other model')) AS contrast,
         'negative'            AS expected,
         difference            AS value,
         low,
         high
FROM     best
LEFT JOIN rival USING (scope)
LEFT JOIN (SELECT * FROM comparisons WHERE crossing = 'all' AND measure = 'ras')
         USING (scope, model, other)
