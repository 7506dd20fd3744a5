-- What flattening has to match: the entropy of each corrupted pair that has a RAS.
SELECT   sample_id, corruption, severity, corrupted_uncertainty AS uncertainty, state
FROM     scopes
JOIN     paired USING (model, sample_id)
JOIN     (SELECT model, sample_id, corruption, severity, state FROM shifts)
         USING (model, sample_id, corruption, severity)
WHERE    scope = $scope AND model = $model
ORDER BY ALL
