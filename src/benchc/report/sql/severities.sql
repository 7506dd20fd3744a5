-- Mean RAS of Q_c and Q_w by severity.
SELECT   model, severity, source, n_pairs, mean_ras
FROM     source_attribution
WHERE    scope = $scope AND crossing = 'severity'
ORDER BY model, severity, source
