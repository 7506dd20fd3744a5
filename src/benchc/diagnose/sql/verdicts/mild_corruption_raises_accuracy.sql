-- "Mild corruption can raise accuracy a little while RAS falls": in some cell of severity 1 and 2
-- accuracy rises, by more than signs flipped at random make it; more cells rise than those make;
-- and RAS at the first severity is below 0.
WITH rises (contrast, measure, null_name, above) AS (
    VALUES ('largest rise of accuracy, severities 1 and 2', 'largest_mild_rise',
            'sign flips', 'largest_mild_rise_above_sign_flips'),
           ('share of cells that rise, above sign flips', 'rising_mild_cells_above_sign_flips',
            'sign flips', 'rising_mild_cells_above_sign_flips')
),
whole AS (
    SELECT * FROM intervals WHERE crossing = 'all' AND part IS NULL
)
SELECT   scope, model, contrast, 'positive' AS expected,
         measured.value, measured.low, measured.high,
         null_name,
         excess.value AS above_null, excess.low AS above_low, excess.high AS above_high
FROM     leaderboard
CROSS JOIN rises
LEFT JOIN whole AS measured USING (scope, model, measure)
LEFT JOIN whole AS excess
  ON     excess.scope = leaderboard.scope AND excess.model = leaderboard.model
 AND     excess.measure = rises.above
UNION ALL BY NAME
SELECT   scope, model,
         'RAS at first severity' AS contrast, 'negative' AS expected, value, low, high,
         '' AS null_name
FROM     leaderboard
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'severity' AND part IS NULL AND measure = 'ras'
           AND    severity = (SELECT min(severity) FROM shifts))
         USING (scope, model)
