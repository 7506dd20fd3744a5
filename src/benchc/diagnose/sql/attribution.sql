-- Mean RAS split three ways: by clean state, state and class of trajectory. Contributions add up to it.
-- A part that does not occur in a crossing has a row all the same.
WITH parts (split, part) AS (
    VALUES ('clean_state', 'c'), ('clean_state', 'w'),
           ('state', 'cc'), ('state', 'cw'), ('state', 'wc'), ('state', 'ww'),
           ('class', 'stable_correct'), ('class', 'stable_wrong'),
           ('class', 'persistent_loss'), ('class', 'persistent_gain'),
           ('class', 'transient_loss'), ('class', 'transient_gain'), ('class', 'incomplete')
),
sums AS (
    SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
             split,
             part,
             coalesce(sum(n_pairs) FILTER (WHERE is_inside), 0) AS n_pairs,
             coalesce(sum(ras_sum) FILTER (WHERE is_inside), 0) AS ras_sum,
             sum(n_pairs)                                       AS n_whole,
             sum(n_missing)                                     AS n_missing
    FROM     (SELECT *, part = CASE split WHEN 'clean_state' THEN clean_state
                                          WHEN 'state' THEN state
                                          ELSE class
                               END AS is_inside
              FROM   cells
              CROSS JOIN parts)
    GROUP BY ALL
)
SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
         split,
         part,
         n_pairs,
         n_missing,
         n_pairs / nullif(n_whole, 0) AS share,
         ras_sum / nullif(n_pairs, 0) AS mean_ras,
         ras_sum / nullif(n_whole, 0) AS contribution
FROM     sums
