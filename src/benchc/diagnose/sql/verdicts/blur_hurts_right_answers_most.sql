-- "Blur hurts Q_c most": its mean RAS under blur is below the lowest under any other group.
WITH over_nulls (null_name, above_measure) AS (
    VALUES ('flattening',    'ras_above_worst_other_group_above_flattening'),
           ('swapped roles', 'ras_above_worst_other_group_above_swapped')
),
under_blur AS (
    SELECT * FROM intervals
    WHERE  crossing = 'corruption_group' AND corruption_group = 'blur' AND part = 'c'
)
SELECT   scope, model,
         'RAS of Q_c, blur minus worst other group' AS contrast,
         'negative' AS expected,
         measured.value, measured.low, measured.high,
         null_name,
         above.value AS above_null, above.low AS above_low, above.high AS above_high
FROM     leaderboard
CROSS JOIN over_nulls
LEFT JOIN (SELECT * FROM under_blur WHERE measure = 'ras_above_worst_other_group') AS measured
         USING (scope, model)
LEFT JOIN (SELECT * RENAME (measure AS above_measure) FROM under_blur) AS above
         USING (scope, model, above_measure)
