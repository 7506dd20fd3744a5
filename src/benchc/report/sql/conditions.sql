-- The corrupted conditions that were predicted.
SELECT   corruption_group, corruption, severity
FROM     shifts
JOIN     corruptions USING (corruption)
GROUP BY ALL
ORDER BY corruption_group, corruption, severity
