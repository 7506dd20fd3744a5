-- What only the bootstrap knows: RAS at temperatures that are found, and the debiased calibration
-- error. `measures` and `leaderboard` hold them as well.
UPDATE measures
SET    ras_matched                          = found.ras_matched,
       ras_fitted                           = found.ras_fitted,
       clean_squared_calibration_error      = found.clean_squared_calibration_error,
       corrupted_squared_calibration_error  = found.corrupted_squared_calibration_error
FROM   (SELECT scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
               max(value) FILTER (WHERE measure = 'ras_matched') AS ras_matched,
               max(value) FILTER (WHERE measure = 'ras_fitted')  AS ras_fitted,
               max(value) FILTER (WHERE measure = 'clean_squared_calibration_error')
                   AS clean_squared_calibration_error,
               max(value) FILTER (WHERE measure = 'corrupted_squared_calibration_error')
                   AS corrupted_squared_calibration_error
        FROM   intervals
        WHERE  part IS NULL
        GROUP BY ALL) AS found
WHERE  measures.scope    = found.scope
AND    measures.model    = found.model
AND    measures.crossing = found.crossing
AND    measures.benchmark        IS NOT DISTINCT FROM found.benchmark
AND    measures.category         IS NOT DISTINCT FROM found.category
AND    measures.corruption_group IS NOT DISTINCT FROM found.corruption_group
AND    measures.corruption       IS NOT DISTINCT FROM found.corruption
AND    measures.severity         IS NOT DISTINCT FROM found.severity;

UPDATE leaderboard
SET    ras_matched = measures.ras_matched,
       ras_fitted  = measures.ras_fitted
FROM   measures
WHERE  measures.crossing = 'all'
AND    measures.scope = leaderboard.scope AND measures.model = leaderboard.model
