-- Whether one model is right, question by question: on the clean pictures of a scope, and on its
-- corrupted ones; NULL where there is no answer (or, corrupted, no RAS). One order for all models.
SELECT   'clean' AS condition, image, scores.correct, sample_id, corruption, severity
FROM     scopes
JOIN     samples  USING (sample_id)
JOIN     clusters USING (scope, image_id)
JOIN     scores   USING (model, sample_id)
WHERE    scope = $scope AND model = $model AND corruption = 'clean'
UNION ALL
SELECT   'corrupted', image, CASE WHEN ras IS NOT NULL THEN correct END, sample_id, corruption,
         severity
FROM     pairs
JOIN     clusters USING (scope, image_id)
WHERE    scope = $scope AND model = $model
ORDER BY condition, sample_id, corruption, severity
