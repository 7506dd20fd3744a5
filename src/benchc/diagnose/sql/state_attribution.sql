-- Mean RAS by correctness on the clean, then the corrupted picture; contributions add to it.
WITH classes (state) AS (
    VALUES ('cc'), ('cw'), ('wc'), ('ww')
),
sums AS (
    SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
             classes.state,
             coalesce(sum(n_pairs) FILTER (WHERE cells.state = classes.state), 0) AS n_pairs,
             coalesce(sum(ras_sum) FILTER (WHERE cells.state = classes.state), 0) AS ras_sum,
             sum(n_pairs)                                                   AS n_whole,
             sum(n_missing)                                                 AS n_missing
    FROM     cells
    CROSS JOIN classes
    GROUP BY ALL
)
SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
         state,
         n_pairs,
         n_missing,
         n_pairs / nullif(n_whole, 0) AS share,
         ras_sum / nullif(n_pairs, 0) AS mean_ras,
         ras_sum / nullif(n_whole, 0) AS contribution
FROM     sums
ORDER BY ALL
