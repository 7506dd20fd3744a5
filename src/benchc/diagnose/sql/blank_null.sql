-- Shifts from the clean to the uniform grey picture, where the model was asked about it.
WITH shifted AS (
    SELECT scope, model, sample_id, blank.corruption, blank.severity,
           blank.uncertainty  - clean.uncertainty  AS uncertainty_shift,
           blank.misalignment - clean.misalignment AS misalignment_shift
    FROM   scopes
    JOIN   scores AS blank USING (model, sample_id)
    JOIN   scores AS clean USING (model, sample_id)
    WHERE  (scope, model) IN (FROM null_scopes) AND blank.corruption = 'blank' AND clean.corruption = 'clean'
)
SELECT   *, 'blank' AS kind, ras(misalignment_shift, uncertainty_shift) AS ras
FROM     shifted
ORDER BY scope, model, sample_id
