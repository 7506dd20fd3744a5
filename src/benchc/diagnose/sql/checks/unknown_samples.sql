-- A prediction for a sample that is not in the pool.
SELECT DISTINCT model, format('{} is no sample of the pool', sample_id) AS fault
FROM     predictions
ANTI JOIN samples USING (sample_id)
ORDER BY ALL
