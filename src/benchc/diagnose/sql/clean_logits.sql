-- One model's clean logits over the samples of one scope, as the softmax takes them.
SELECT   sample_id,
         [x / temperature FOR x IN logits] AS logits
FROM     scopes
JOIN     predictions USING (model, sample_id)
WHERE    scope = $scope AND model = $model AND corruption = 'clean'
AND      status = 'ok' AND logits IS NOT NULL
ORDER BY sample_id
