-- How much was asked: what the figures of one scope are taken over.
SELECT count(DISTINCT model)      AS n_models,
       count(DISTINCT sample_id)  AS n_samples,
       count(DISTINCT image_id)   AS n_pictures,
       count(DISTINCT corruption) AS n_corruptions,
       count(DISTINCT severity)   AS n_severities
FROM   pairs
WHERE  scope = $scope
