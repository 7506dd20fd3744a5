-- The pairs in which a model silently degraded, grew sure of a wrong answer or was lucky, with all
-- that training on them needs. A pair that is of two kinds stands twice.
WITH kinds AS (
    SELECT *,
           unnest([silent_degradation(state, ras, $tau),
                   overconfident_degradation(misalignment_shift, uncertainty_shift, $tau),
                   lucky_guess(state, class)])                                      AS is_kind,
           unnest(['silent_degradation', 'overconfident_degradation', 'lucky_guess']) AS kind
    FROM   pairs
    WHERE  scope = $scope AND list_contains($models, model) AND ras IS NOT NULL
),
drawn AS (
    SELECT CAST(max(value ->> '$.seed') AS BIGINT)                    AS seed,
           CAST(max(value ->> '$.corrupt.reference_side') AS BIGINT)  AS reference_side
    FROM   run
    WHERE  name = 'config'
)
SELECT   kinds.model,
         kind,
         kinds.scope,
         kinds.sample_id,
         kinds.benchmark,
         kinds.category,
         question,
         options,
         answer,
         options[answer + 1]  AS answer_text,
         kinds.image_id,
         picture_file,
         kinds.corruption_group,
         kinds.corruption,
         kinds.severity,
         seed,
         reference_side,
         corrupted.pixels_sha256,
         clean_said.p         AS clean_p,
         corrupted_said.p     AS corrupted_p,
         kinds.state,
         kinds.class,
         kinds.misalignment_shift,
         kinds.uncertainty_shift,
         kinds.ras
FROM     kinds
CROSS JOIN drawn
JOIN     samples USING (sample_id)
JOIN     predictions AS clean_said
  ON     clean_said.model = kinds.model AND clean_said.sample_id = kinds.sample_id
 AND     clean_said.corruption = 'clean'
JOIN     predictions AS corrupted_said
  ON     corrupted_said.model = kinds.model AND corrupted_said.sample_id = kinds.sample_id
 AND     corrupted_said.corruption = kinds.corruption
 AND     corrupted_said.severity = kinds.severity
LEFT JOIN corrupted
  ON     corrupted.image_id = kinds.image_id AND corrupted.corruption = kinds.corruption
 AND     corrupted.severity = kinds.severity
WHERE    is_kind AND list_contains($kinds, kind)
ORDER BY kinds.model, kind, kinds.ras, kinds.sample_id, kinds.corruption, kinds.severity
