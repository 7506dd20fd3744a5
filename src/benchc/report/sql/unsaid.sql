-- What decides which statements cannot be made over a scope.
SELECT count(DISTINCT model)                AS n_models,
       count(DISTINCT samples.image_id)     AS n_images,
       count(DISTINCT benchmark)            AS n_benchmarks,
       min(len(options))                    AS fewest_options,
       max(len(options))                    AS most_options
FROM   scopes
JOIN   samples USING (sample_id)
WHERE  scope = $scope
