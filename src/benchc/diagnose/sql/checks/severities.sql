-- Severity 0 is for the clean picture and the blank control, 1 to 5 for corruptions.
SELECT DISTINCT model, format('{} cannot have severity {}', corruption, severity) AS fault
FROM     predictions
WHERE    severity NOT BETWEEN 0 AND 5
   OR    (severity = 0) <> (corruption IN ('clean', 'blank'))
ORDER BY ALL
