-- Mean RAS by the class of the trajectory a pair lies on; contributions add to it.
-- An incomplete trajectory keeps its contribution.
WITH classes (class) AS (
    VALUES ('stable_correct'), ('stable_wrong'), ('persistent_loss'), ('persistent_gain'),
           ('transient_loss'), ('transient_gain'), ('incomplete')
),
sums AS (
    SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
             classes.class,
             coalesce(sum(n_pairs) FILTER (WHERE cells.class = classes.class), 0) AS n_pairs,
             coalesce(sum(ras_sum) FILTER (WHERE cells.class = classes.class), 0) AS ras_sum,
             sum(n_pairs)                                                   AS n_whole,
             sum(n_missing)                                                 AS n_missing
    FROM     cells
    CROSS JOIN classes
    GROUP BY ALL
)
SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
         class,
         n_pairs,
         n_missing,
         n_pairs / nullif(n_whole, 0) AS share,
         ras_sum / nullif(n_pairs, 0) AS mean_ras,
         ras_sum / nullif(n_whole, 0) AS contribution
FROM     sums
ORDER BY ALL
