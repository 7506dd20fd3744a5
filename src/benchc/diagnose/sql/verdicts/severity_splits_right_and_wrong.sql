-- "With severity Q_c falls and Q_w rises": mean RAS at the last severity minus at the first.
WITH stated (part, contrast, expected) AS (
    VALUES ('c', 'RAS of Q_c, last minus first severity', 'negative'),
           ('w', 'RAS of Q_w, last minus first severity', 'positive')
),
over_nulls (null_name, above_measure) AS (
    VALUES ('flattening',    'severity_trend_above_flattening'),
           ('swapped roles', 'severity_trend_above_swapped')
)
SELECT   scope, model, contrast, expected,
         trend.value, trend.low, trend.high,
         null_name,
         above.value AS above_null, above.low AS above_low, above.high AS above_high
FROM     leaderboard
CROSS JOIN stated
CROSS JOIN over_nulls
LEFT JOIN (SELECT * FROM intervals WHERE crossing = 'all' AND measure = 'severity_trend') AS trend
         USING (scope, model, part)
LEFT JOIN (SELECT * RENAME (measure AS above_measure) FROM intervals WHERE crossing = 'all') AS above
         USING (scope, model, part, above_measure)
