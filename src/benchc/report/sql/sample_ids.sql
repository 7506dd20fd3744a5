-- The names of all samples.
SELECT   sample_id
FROM     samples
ORDER BY sample_id
