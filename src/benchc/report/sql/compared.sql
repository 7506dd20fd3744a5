-- Sums over the pairs that both runs have, by model, corruption and picture. A pair is the same
-- where sample, picture, corruption and severity are, and counts where both runs gave it a RAS.
SELECT   shifts.model,
         corruption_group,
         shifts.corruption,
         samples.image_id,
         count(*)                       AS n,
         sum(shifts.correct)            AS correct_first,
         sum(other.correct)             AS correct_second,
         sum(shifts.ras)                AS ras_first,
         sum(other.ras)                 AS ras_second
FROM     first.shifts
JOIN     second.shifts AS other USING (model, sample_id, corruption, severity)
JOIN     first.samples USING (sample_id)
JOIN     second.samples AS asked USING (sample_id, image_id)
JOIN     first.corruptions USING (corruption)
WHERE    shifts.ras IS NOT NULL AND other.ras IS NOT NULL
GROUP BY ALL
ORDER BY ALL
