-- Accuracy and mean RAS of every model under each group of corruptions, and under all (NULL).
SELECT   model, corruption_group, measure, value, low, high, n_pairs
FROM     intervals
WHERE    scope = $scope AND crossing IN ('all', 'corruption_group') AND part IS NULL
  AND    measure IN ('corrupted_accuracy', 'ras')
ORDER BY corruption_group NULLS LAST, model, measure
