-- "Mild corruption can raise accuracy a little while RAS falls": at the first severity.
WITH stated (measure, contrast, expected) AS (
    VALUES ('accuracy_change', 'accuracy at first severity minus clean', 'positive'),
           ('ras',             'RAS at first severity',                  'negative')
)
SELECT   scope, model, contrast, expected, value, low, high
FROM     leaderboard
CROSS JOIN stated
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'severity' AND part IS NULL
           AND    severity = (SELECT min(severity) FROM shifts))
         USING (scope, model, measure)
