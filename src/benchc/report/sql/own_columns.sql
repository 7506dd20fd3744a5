-- The change of accuracy by each value of an own column, over all corruptions (NULL) and by group.
SELECT   own_column, own_value, model, corruption_group, n_pairs, value, low, high
FROM     own_column_intervals
WHERE    scope = $scope AND measure = 'accuracy_change'
ORDER BY own_column, own_value, model, corruption_group NULLS FIRST
