-- "The model with the best clean accuracy had the largest loss and the most negative RAS": it is
-- below even the lowest of the others, in RAS and in what it loses of its accuracy. The interval
-- holds whichever model that is, and whichever other is lowest.
WITH stated (measure, quantity) AS (
    VALUES ('ras', 'RAS'), ('ras_matched', 'matched RAS'), ('ras_fitted', 'fitted RAS'),
           ('accuracy_change', 'accuracy change')
),
behind AS (
    SELECT   scope,
             model,
             measure,
             max(difference)                                    AS value,
             CASE WHEN bool_and(low IS NOT NULL) THEN max(low)  END AS low,
             CASE WHEN bool_and(low IS NOT NULL) THEN max(high) END AS high
    FROM     ranked_differences
    WHERE    difference IS NOT NULL
    GROUP BY scope, model, measure
)
SELECT   scope,
         CAST(NULL AS VARCHAR)                                  AS model,
         named                                                  AS about,
         format('{}, most accurate minus lowest other', quantity) AS contrast,
         'negative'                                             AS expected,
         max(value) FILTER (WHERE leads)                        AS value,
         CASE WHEN bool_and(low IS NOT NULL) THEN min(low)  END AS low,
         CASE WHEN bool_and(low IS NOT NULL) THEN max(high) END AS high
FROM     most_accurate
CROSS JOIN stated
LEFT JOIN behind USING (scope, model, measure)
GROUP BY scope, named, measure, quantity
