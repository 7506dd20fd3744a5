-- Shifts from the clean to the flattened distribution; the answer, hence correctness, stays.
WITH shifted AS (
    SELECT scope, model, sample_id, kind, corruption, severity,
           flattened.uncertainty - clean_uncertainty                         AS uncertainty_shift,
           abs(flattened.confidence - clean_correct) - clean_misalignment    AS misalignment_shift
    FROM   flattened
    JOIN   paired USING (model, sample_id, corruption, severity)
    JOIN   (SELECT model, sample_id, corruption, severity, clean_correct FROM shifts)
           USING (model, sample_id, corruption, severity)
)
SELECT   *, ras(misalignment_shift, uncertainty_shift) AS ras
FROM     shifted
ORDER BY sample_id, corruption, severity
