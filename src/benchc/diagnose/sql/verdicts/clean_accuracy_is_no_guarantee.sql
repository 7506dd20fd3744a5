-- "The model with the best clean accuracy had not the best RAS": some other model is above it, in raw
-- RAS, and where confidence is matched or fitted too, so that it is not for being less sure alone.
-- The interval holds whichever model is the most accurate, and whichever other is best.
WITH stated (measure, quantity) AS (
    VALUES ('ras', 'RAS'), ('ras_matched', 'matched RAS'), ('ras_fitted', 'fitted RAS')
),
ahead AS (
    SELECT   scope,
             model,
             measure,
             min(difference)                                    AS value,
             CASE WHEN bool_and(low IS NOT NULL) THEN min(low)  END AS low,
             CASE WHEN bool_and(low IS NOT NULL) THEN min(high) END AS high
    FROM     ranked_differences
    WHERE    difference IS NOT NULL
    GROUP BY scope, model, measure
)
SELECT   scope,
         CAST(NULL AS VARCHAR)                                  AS model,
         named                                                  AS about,
         format('{}, most accurate minus best other', quantity) AS contrast,
         'negative'                                             AS expected,
         max(value) FILTER (WHERE leads)                        AS value,
         CASE WHEN bool_and(low IS NOT NULL) THEN min(low)  END AS low,
         CASE WHEN bool_and(low IS NOT NULL) THEN max(high) END AS high
FROM     most_accurate
CROSS JOIN stated
LEFT JOIN ahead USING (scope, model, measure)
GROUP BY scope, named, measure, quantity
