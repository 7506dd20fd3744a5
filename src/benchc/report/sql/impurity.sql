-- Histogram of the impurity in steps of 1/20: samples kept and left out.
SELECT   CAST(floor(impurity * 20) AS BIGINT)     AS bin,
         floor(impurity * 20) / 20                AS low,
         (floor(impurity * 20) + 1) / 20          AS high,
         CASE WHEN kept THEN 'kept' ELSE 'left_out' END AS outcome,
         count(*)                                 AS n
FROM     selection
WHERE    impurity IS NOT NULL
GROUP BY ALL
ORDER BY bin, outcome
