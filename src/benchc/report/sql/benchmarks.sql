-- The pool and the selection by benchmark.
SELECT   benchmark,
         count(*)                                   AS n_pool,
         count(DISTINCT image_id)                   AS n_pictures,
         count_if(kept)                             AS n_kept,
         count_if(control)                          AS n_control,
         min(len(options))                          AS fewest_options,
         max(len(options))                          AS most_options
FROM     samples
JOIN     selection USING (sample_id)
GROUP BY benchmark
ORDER BY benchmark
