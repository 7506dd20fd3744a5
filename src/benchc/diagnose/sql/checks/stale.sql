-- Shifts that do not follow from the predictions beside them.
WITH fresh AS (
    SELECT corrupted.model, corrupted.sample_id, corrupted.corruption, corrupted.severity,
           ras(corrupted.misalignment - clean.misalignment,
               corrupted.uncertainty  - clean.uncertainty) AS ras,
           state(clean.correct, corrupted.correct)         AS state
    FROM   scores AS corrupted
    JOIN   scores AS clean
      ON   clean.model      = corrupted.model
     AND   clean.sample_id  = corrupted.sample_id
     AND   clean.corruption = 'clean'
    WHERE  corrupted.severity >= 1
)
SELECT   model,
         format('{} at {} severity {} does not follow from the predictions; run its diagnosis again',
                sample_id, corruption, severity) AS fault
FROM     fresh
FULL JOIN shifts USING (model, sample_id, corruption, severity)
WHERE    fresh.model IS NULL
   OR    shifts.model IS NULL
   OR    fresh.state IS DISTINCT FROM shifts.state
   OR    (fresh.ras IS NULL) <> (shifts.ras IS NULL)
   OR    abs(fresh.ras - shifts.ras) > 1e-9
ORDER BY ALL
