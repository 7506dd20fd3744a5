-- Mean RAS, and the change of accuracy, of every model under every corruption and severity.
SELECT   model, corruption_group, corruption, severity, n_pairs, ras, accuracy_change
FROM     measures
WHERE    scope = $scope AND crossing = 'corruption_by_severity'
ORDER BY corruption_group, corruption, model, severity
