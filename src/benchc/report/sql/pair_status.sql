-- How predictions ended where a pair has no score, clean and corrupted, by corruption.
SELECT   model, clean_status, status, corruption, CAST(sum(n_pairs) AS BIGINT) AS n_pairs
FROM     pair_status
WHERE    scope = $scope AND NOT (clean_status = 'ok' AND status = 'ok')
GROUP BY model, clean_status, status, corruption
ORDER BY model, clean_status, status, corruption
