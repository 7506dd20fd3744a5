-- "Clean accuracy does not predict RAS": some other model has a better RAS than the one with the
-- best clean accuracy. The interval holds whichever model that is, and whichever other is best.
WITH ahead AS (
    SELECT   scope,
             model,
             min(difference)                                    AS value,
             CASE WHEN bool_and(low IS NOT NULL) THEN min(low)  END AS low,
             CASE WHEN bool_and(low IS NOT NULL) THEN min(high) END AS high
    FROM     simultaneous_differences
    WHERE    measure = 'ras' AND difference IS NOT NULL
    GROUP BY scope, model
)
SELECT   scope,
         CAST(NULL AS VARCHAR)                                  AS model,
         format('RAS of {} minus the best of the others', named) AS contrast,
         'negative'                                             AS expected,
         max(value) FILTER (WHERE leads)                        AS value,
         CASE WHEN bool_and(low IS NOT NULL) THEN min(low)  END AS low,
         CASE WHEN bool_and(low IS NOT NULL) THEN max(high) END AS high
FROM     most_accurate
LEFT JOIN ahead USING (scope, model)
GROUP BY scope, named
