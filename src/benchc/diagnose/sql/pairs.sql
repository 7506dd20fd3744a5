-- The shifts with everything one groups by; a pair stands once in every scope it belongs to.
SELECT scopes.scope,
       shifts.model,
       shifts.sample_id,
       samples.image_id,
       samples.benchmark,
       samples.category,
       corruptions.corruption_group,
       shifts.corruption,
       shifts.severity,
       shifts.uncertainty_shift,
       shifts.misalignment_shift,
       shifts.ras,
       shifts.clean_correct,
       shifts.correct,
       clean_state(shifts.clean_correct) AS clean_state,
       shifts.state,
       trajectories.class,
       trajectories.onset
FROM   shifts
JOIN   scopes       USING (model, sample_id)
JOIN   samples      USING (sample_id)
JOIN   corruptions  USING (corruption)
JOIN   trajectories USING (model, sample_id, corruption)
