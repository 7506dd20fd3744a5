-- What the bootstrap resamples: one model's pairs in one scope that have a RAS. All pairs are
-- numbered in one order for all models.
SELECT   row_number() OVER (ORDER BY pairs.sample_id, pairs.corruption, pairs.severity) AS pair,
         clusters.image,
         pairs.benchmark,
         pairs.category,
         pairs.corruption_group,
         pairs.corruption,
         pairs.severity,
         pairs.sample_id,
         corrupted.logits                    AS corrupted_logits,
         pairs.state,
         pairs.class,
         pairs.ras,
         CAST(pairs.clean_correct AS DOUBLE) AS clean_correct,
         CAST(pairs.correct AS DOUBLE)       AS corrupted_correct,
         paired.* EXCLUDE (model, sample_id, corruption, severity),
         confidence_bin(clean_confidence)     AS clean_bin,
         confidence_bin(corrupted_confidence) AS corrupted_bin,
         -- phenomenon@tau
         silent_degradation(pairs.state, pairs.ras, 0.0)
             AS "silent_degradation@0.0",
         overconfident_degradation(pairs.misalignment_shift, pairs.uncertainty_shift, 0.0)
             AS "overconfident_degradation@0.0",
         hesitant_support(pairs.misalignment_shift, pairs.uncertainty_shift, 0.0)
             AS "hesitant_support@0.0",
         lucky_guess(pairs.state, pairs.class)
             AS "lucky_guess@0.0",
         unstable_gain(pairs.state, pairs.ras, 0.0)
             AS "unstable_gain@0.0",
         silent_degradation(pairs.state, pairs.ras, 0.01)
             AS "silent_degradation@0.01",
         overconfident_degradation(pairs.misalignment_shift, pairs.uncertainty_shift, 0.01)
             AS "overconfident_degradation@0.01",
         hesitant_support(pairs.misalignment_shift, pairs.uncertainty_shift, 0.01)
             AS "hesitant_support@0.01",
         lucky_guess(pairs.state, pairs.class)
             AS "lucky_guess@0.01",
         unstable_gain(pairs.state, pairs.ras, 0.01)
             AS "unstable_gain@0.01",
         silent_degradation(pairs.state, pairs.ras, 0.1)
             AS "silent_degradation@0.1",
         overconfident_degradation(pairs.misalignment_shift, pairs.uncertainty_shift, 0.1)
             AS "overconfident_degradation@0.1",
         hesitant_support(pairs.misalignment_shift, pairs.uncertainty_shift, 0.1)
             AS "hesitant_support@0.1",
         lucky_guess(pairs.state, pairs.class)
             AS "lucky_guess@0.1",
         unstable_gain(pairs.state, pairs.ras, 0.1)
             AS "unstable_gain@0.1",
         -- Roles swapped: from the corrupted picture back to the clean one.
         ras(-pairs.misalignment_shift, -pairs.uncertainty_shift) AS swapped_ras,
         flattening.ras                      AS flattening_ras,
         kept.ras                            AS flattening_kept_ras,
         blank.ras                           AS blank_ras
FROM     pairs
JOIN     clusters USING (scope, image_id)
LEFT JOIN paired  USING (model, sample_id, corruption, severity)
LEFT JOIN (SELECT model, sample_id, corruption, severity,
                  [x / temperature FOR x IN logits] AS logits FROM predictions) AS corrupted
         USING (model, sample_id, corruption, severity)
LEFT JOIN nulls AS flattening
  ON     flattening.kind = 'flattening'
 AND     flattening.scope = pairs.scope           AND flattening.model = pairs.model
 AND     flattening.sample_id = pairs.sample_id   AND flattening.corruption = pairs.corruption
 AND     flattening.severity = pairs.severity
LEFT JOIN nulls AS kept
  ON     kept.kind = 'flattening_kept'
 AND     kept.scope = pairs.scope                 AND kept.model = pairs.model
 AND     kept.sample_id = pairs.sample_id         AND kept.corruption = pairs.corruption
 AND     kept.severity = pairs.severity
LEFT JOIN nulls AS blank
  ON     blank.kind = 'blank'
 AND     blank.scope = pairs.scope                AND blank.model = pairs.model
 AND     blank.sample_id = pairs.sample_id
WHERE    pairs.scope = $scope AND pairs.model = $model
QUALIFY  pairs.ras IS NOT NULL
ORDER BY pair
