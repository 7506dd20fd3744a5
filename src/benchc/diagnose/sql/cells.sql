-- Sums of RAS by every crossing, kept apart by clean state, state and trajectory class:
-- each attribution is a sum over these rows. A column that is rolled up is NULL.
SELECT   scope,
         model,
         crossing(benchmark, category, corruption_group, corruption, severity) AS crossing,
         benchmark,
         category,
         corruption_group,
         corruption,
         severity,
         clean_state,
         state,
         class,
         count(ras)            AS n_pairs,
         count(*) - count(ras) AS n_missing,
         coalesce(sum(ras), 0) AS ras_sum
FROM     pairs
GROUP BY scope, model, clean_state, state, class,
         GROUPING SETS ((),
                        (severity),
                        (corruption_group),
                        (corruption_group, severity),
                        (corruption_group, corruption),
                        (corruption_group, corruption, severity),
                        (benchmark),
                        (benchmark, severity),
                        (benchmark, corruption_group),
                        (benchmark, category),
                        (benchmark, category, corruption_group))
ORDER BY ALL
