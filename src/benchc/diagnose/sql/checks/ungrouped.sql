-- A corruption that is in no group.
SELECT DISTINCT model, format('{} is no known corruption', corruption) AS fault
FROM     shifts
ANTI JOIN corruptions USING (corruption)
ORDER BY ALL
