-- Clean and corrupted side by side, for pairs that have a RAS: every figure is taken over these,
-- and a sample's clean row counts once for each of its pairs.
SELECT   shifts.model,
         shifts.sample_id,
         shifts.corruption,
         shifts.severity,
         clean.confidence           AS clean_confidence,
         corrupted.confidence       AS corrupted_confidence,
         clean.uncertainty          AS clean_uncertainty,
         corrupted.uncertainty      AS corrupted_uncertainty,
         clean.misalignment         AS clean_misalignment,
         corrupted.misalignment     AS corrupted_misalignment,
         clean.brier                AS clean_brier,
         corrupted.brier            AS corrupted_brier,
         clean.nll                  AS clean_nll,
         corrupted.nll              AS corrupted_nll,
         clean_said.option_mass     AS clean_option_mass,
         corrupted_said.option_mass AS corrupted_option_mass,
         CAST(clean_said.is_tie AS INTEGER)     AS clean_tie,
         CAST(corrupted_said.is_tie AS INTEGER) AS corrupted_tie
FROM     shifts
JOIN     scores AS corrupted           USING (model, sample_id, corruption, severity)
JOIN     predictions AS corrupted_said USING (model, sample_id, corruption, severity)
JOIN     scores AS clean
  ON     clean.model = shifts.model AND clean.sample_id = shifts.sample_id
 AND     clean.corruption = 'clean'
JOIN     predictions AS clean_said
  ON     clean_said.model = shifts.model AND clean_said.sample_id = shifts.sample_id
 AND     clean_said.corruption = 'clean'
WHERE    ras IS NOT NULL
