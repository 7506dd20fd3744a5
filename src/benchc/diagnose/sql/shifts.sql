-- Corrupted minus clean, same model and sample. The blank control (severity 0) is no shift.
WITH paired AS (
    SELECT corrupted.model,
           corrupted.sample_id,
           corrupted.corruption,
           corrupted.severity,
           corrupted.uncertainty  - clean.uncertainty  AS uncertainty_shift,
           corrupted.misalignment - clean.misalignment AS misalignment_shift,
           clean.correct                               AS clean_correct,
           corrupted.correct                           AS correct
    FROM   scores AS corrupted
    JOIN   scores AS clean
      ON   clean.model      = corrupted.model
     AND   clean.sample_id  = corrupted.sample_id
     AND   clean.corruption = 'clean'
    WHERE  corrupted.severity >= 1
)
SELECT   model,
         sample_id,
         corruption,
         severity,
         uncertainty_shift,
         misalignment_shift,
         ras(misalignment_shift, uncertainty_shift) AS ras,
         clean_correct,
         correct,
         state(clean_correct, correct)              AS state
FROM     paired
ORDER BY model, sample_id, corruption, severity
