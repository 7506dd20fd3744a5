-- A model, sample and condition that stands more than once.
SELECT   model,
         format('{} at {} severity {} stands {} times', sample_id, corruption, severity, count(*))
             AS fault
FROM     predictions
GROUP BY model, sample_id, corruption, severity
HAVING   count(*) > 1
ORDER BY ALL
