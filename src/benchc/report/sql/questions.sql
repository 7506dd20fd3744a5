-- The samples named in $samples, as they were asked.
SELECT   sample_id, question, options, answer
FROM     samples
WHERE    list_contains($samples, sample_id)
ORDER BY sample_id
