-- "Mild corruption can raise accuracy a little while RAS falls": at the first severity.
SELECT scope, model,
       CASE measure WHEN 'ras' THEN 'RAS at the first severity'
                    ELSE 'accuracy at the first severity minus on clean pictures' END AS contrast,
       CASE measure WHEN 'ras' THEN 'negative' ELSE 'positive' END AS expected,
       value, low, high
FROM   intervals
WHERE  crossing = 'severity' AND severity = (SELECT min(severity) FROM shifts)
AND    measure IN ('ras', 'accuracy_change') AND part IS NULL
