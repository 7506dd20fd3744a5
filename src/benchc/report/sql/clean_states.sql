-- Right and wrong on the clean picture: how often, how bad, and what each adds to the mean RAS, with an interval.
SELECT    figures.model, clean_state AS class, figures.n_pairs, share, mean_ras, contribution, low, high
FROM      source_attribution AS figures
LEFT JOIN intervals
  ON      intervals.scope = figures.scope AND intervals.model = figures.model
 AND      intervals.crossing = 'all' AND measure = 'contribution' AND part = clean_state
WHERE     figures.scope = $scope AND figures.crossing = 'all'
ORDER BY  figures.model, class
