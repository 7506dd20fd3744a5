-- The four states: how often, how bad, and what each adds to the mean RAS, with an interval.
SELECT    figures.model, state AS class, figures.n_pairs, share, mean_ras, contribution, low, high
FROM      state_attribution AS figures
LEFT JOIN intervals
  ON      intervals.scope = figures.scope AND intervals.model = figures.model
 AND      intervals.crossing = 'all' AND measure = 'contribution' AND part = state
WHERE     figures.scope = $scope AND figures.crossing = 'all'
ORDER BY  figures.model, class
