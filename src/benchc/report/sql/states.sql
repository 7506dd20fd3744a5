-- The four states: how often, how bad, and what each adds to the mean RAS.
SELECT   model, state AS class, n_pairs, share, mean_ras, contribution
FROM     state_attribution
WHERE    scope = $scope AND crossing = 'all'
ORDER BY model, state
