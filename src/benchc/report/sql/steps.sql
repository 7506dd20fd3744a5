-- One trajectory: what a model said of one sample at every severity of one corruption.
SELECT   predictions.severity, p, status, is_tie, top1, scores.correct, ras
FROM     predictions
JOIN     scores USING (model, sample_id, corruption, severity)
LEFT JOIN shifts USING (model, sample_id, corruption, severity)
WHERE    model = $model AND sample_id = $sample_id AND corruption IN ('clean', $corruption)
ORDER BY predictions.severity
