-- One model's clean logits over the samples of one scope, as the softmax takes them.
SELECT   sample_id,
         [x / temperature FOR x IN logits] AS logits,
         answer,
         image,
         temperature
FROM     scopes
JOIN     predictions USING (model, sample_id)
JOIN     samples     USING (sample_id)
JOIN     clusters    USING (scope, image_id)
WHERE    scope = $scope AND model = $model AND corruption = 'clean'
AND      status = 'ok' AND logits IS NOT NULL
ORDER BY sample_id
