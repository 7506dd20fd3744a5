-- For each model that looks at pictures the largest contrast of two losses that their simultaneous
-- interval tells apart, where the larger one is itself told apart from 0.
SELECT   apart.*, one.value AS change, other.value AS other_change
FROM     loss_contrasts AS apart
JOIN     losses AS one
  ON     one.scope = apart.scope AND one.model = apart.model
 AND     one.benchmark = apart.benchmark AND one.corruption_group = apart.corruption_group
JOIN     losses AS other
  ON     other.scope = apart.scope AND other.model = apart.model
 AND     other.benchmark = apart.other_benchmark AND other.corruption_group = apart.other_group
WHERE    apart.scope = $scope AND apart.high < 0 AND one.mark = 'loss'
  AND    one.crossing   = 'benchmark_by_corruption_group' AND one.measure   = 'accuracy_change'
  AND    other.crossing = 'benchmark_by_corruption_group' AND other.measure = 'accuracy_change'
  AND    apart.model NOT IN (SELECT model FROM model_status WHERE is_blind(looks))
QUALIFY  row_number() OVER (PARTITION BY apart.model ORDER BY apart.difference, apart.benchmark,
                            apart.corruption_group, other_benchmark, other_group) = 1
ORDER BY apart.model
