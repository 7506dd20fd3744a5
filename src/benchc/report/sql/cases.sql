-- The largest shift of each trajectory and state, up or down, and the first n of these for each
-- model, group of corruptions and state; `place` 1 is the largest.
WITH largest AS (
    SELECT *
    FROM   pairs
    WHERE  scope = $scope AND ras IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY model, sample_id, corruption, state
                               ORDER BY abs(ras) DESC, severity) = 1
)
SELECT   model, sample_id, image_id, corruption_group, corruption, severity, state, class, ras,
         misalignment_shift, uncertainty_shift,
         row_number() OVER (PARTITION BY model, corruption_group, state
                            ORDER BY abs(ras) DESC, sample_id, corruption) AS place
FROM     largest
QUALIFY  place <= $n
ORDER BY place, abs(ras) DESC, model, sample_id, corruption, state
