-- The trajectory classes: how often, how bad, and what each adds to the mean RAS.
SELECT   model, class, n_pairs, share, mean_ras, contribution
FROM     trajectory_attribution
WHERE    scope = $scope AND crossing = 'all'
ORDER BY model, class
