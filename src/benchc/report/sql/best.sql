-- The best model under each group of corruptions and under all (NULL), by accuracy and by mean
-- RAS, under all also by RAS matched and fitted, with its paired difference from every other model:
-- `rivals`, the nearest first. It is named as the best of several, so that under all the intervals
-- of RAS are those that hold for all pairs of models together.
-- A model that does not look at pictures is neither best nor a rival.
WITH figures AS (
    SELECT corruption_group, measure, model, value, low, high
    FROM   intervals
    WHERE  scope = $scope AND crossing IN ('all', 'corruption_group') AND part IS NULL
      AND  (measure IN ('corrupted_accuracy', 'ras')
            OR crossing = 'all' AND measure IN ('ras_matched', 'ras_fitted'))
      AND  value IS NOT NULL
      AND  model NOT IN (SELECT model FROM model_status WHERE is_blind(looks))
    QUALIFY row_number() OVER (PARTITION BY corruption_group, measure
                               ORDER BY value DESC, model) = 1
)
SELECT    figures.corruption_group,
          figures.measure,
          figures.model,
          figures.value,
          figures.low,
          figures.high,
          coalesce(list({'model': compared.other, 'difference': compared.difference,
                         'low': coalesce(together.low, compared.low),
                         'high': coalesce(together.high, compared.high)}
                        ORDER BY compared.difference, compared.other)
                       FILTER (WHERE compared.difference IS NOT NULL), []) AS rivals
FROM      figures
LEFT JOIN comparisons AS compared
  ON      compared.scope = $scope
 AND      compared.crossing IN ('all', 'corruption_group')
 AND      compared.corruption_group IS NOT DISTINCT FROM figures.corruption_group
 AND      compared.measure = figures.measure
 AND      compared.model = figures.model
 AND      compared.other NOT IN (SELECT model FROM model_status WHERE is_blind(looks))
LEFT JOIN simultaneous_differences AS together
  ON      figures.corruption_group IS NULL
 AND      together.scope = $scope        AND together.measure = figures.measure
 AND      together.model = figures.model AND together.other = compared.other
GROUP BY  ALL
ORDER BY  figures.corruption_group NULLS FIRST, figures.measure
