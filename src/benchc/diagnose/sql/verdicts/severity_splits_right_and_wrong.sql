-- "With severity Q_c falls and Q_w rises": mean RAS at the last severity minus at the first.
WITH stated (part, contrast, expected) AS (
    VALUES ('c', 'RAS of Q_c, last minus first severity', 'negative'),
           ('w', 'RAS of Q_w, last minus first severity', 'positive')
)
SELECT   scope, model, contrast, expected, value, low, high
FROM     leaderboard
CROSS JOIN stated
LEFT JOIN (SELECT * FROM intervals WHERE crossing = 'all' AND measure = 'severity_trend')
         USING (scope, model, part)
