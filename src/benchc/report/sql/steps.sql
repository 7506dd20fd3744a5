-- What one model said of each of its samples named in $samples, at every severity.
SELECT    predictions.sample_id, predictions.corruption, predictions.severity, p, status, is_tie,
          top1, scores.correct, ras
FROM      predictions
JOIN      scores USING (model, sample_id, corruption, severity)
LEFT JOIN shifts USING (model, sample_id, corruption, severity)
WHERE     model = $model AND list_contains($samples, predictions.sample_id)
  AND     predictions.corruption <> 'blank'
ORDER BY  predictions.sample_id, predictions.corruption, predictions.severity
