-- The change of accuracy of what is asked under what corrupts: benchmarks first, then categories.
SELECT   model, crossing, benchmark, category, corruption_group, n_images, value,
         together_low AS low, together_high AS high, mark
FROM     losses
WHERE    scope = $scope AND measure = 'accuracy_change'
ORDER BY crossing, benchmark, category, corruption_group, model
