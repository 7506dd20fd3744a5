-- The best model under each group of corruptions and under all (NULL), by accuracy and by mean
-- RAS, with its paired difference from every other model: `rivals`, the nearest first.
WITH figures AS (
    SELECT corruption_group, measure, model, value, low, high
    FROM   intervals
    WHERE  scope = $scope AND crossing IN ('all', 'corruption_group') AND part IS NULL
      AND  measure IN ('corrupted_accuracy', 'ras') AND value IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY corruption_group, measure
                               ORDER BY value DESC, model) = 1
)
SELECT    figures.corruption_group,
          figures.measure,
          figures.model,
          figures.value,
          figures.low,
          figures.high,
          coalesce(list({'model': other, 'difference': difference,
                         'low': compared.low, 'high': compared.high}
                        ORDER BY difference, other)
                       FILTER (WHERE difference IS NOT NULL), []) AS rivals
FROM      figures
LEFT JOIN comparisons AS compared
  ON      compared.scope = $scope
 AND      compared.crossing IN ('all', 'corruption_group')
 AND      compared.corruption_group IS NOT DISTINCT FROM figures.corruption_group
 AND      compared.measure = figures.measure
 AND      compared.model = figures.model
GROUP BY  ALL
ORDER BY  figures.corruption_group NULLS FIRST, figures.measure
