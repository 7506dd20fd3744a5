-- The models that may be the most accurate on clean pictures: no other is known to exceed them.
-- The one with the best estimate leads; `named` names them all, or counts them where they are many.
WITH candidates AS (
    SELECT   scope,
             model,
             row_number() OVER (PARTITION BY scope ORDER BY clean_accuracy DESC, model) = 1 AS leads
    FROM     measures
    WHERE    crossing = 'all' AND n_pairs > 0
    AND      model NOT IN (SELECT model FROM model_status WHERE is_blind(looks))
    AND      (scope, model) NOT IN (SELECT (scope, model)
                                    FROM   ranked_differences
                                    WHERE  measure = 'clean_accuracy' AND high < 0)
),
names AS (
    SELECT   scope,
             CASE WHEN count(*) > 3
                  THEN format('{} or one of {} others', max(model) FILTER (WHERE leads), count(*) - 1)
                  ELSE string_agg(model, ' or ' ORDER BY NOT leads, model)
             END AS named
    FROM     candidates
    GROUP BY scope
)
SELECT   scope, model, leads, named
FROM     candidates
JOIN     names USING (scope)
