-- The pairs with the largest RAS, up or down, of each model and state.
WITH ordered AS (
    SELECT *,
           row_number() OVER (PARTITION BY model, state
                              ORDER BY abs(ras) DESC, sample_id, corruption, severity) AS place
    FROM   pairs
    WHERE  scope = $scope AND ras IS NOT NULL
)
SELECT   model, sample_id, image_id, corruption, severity, state, class, ras,
         misalignment_shift, uncertainty_shift, question, options, answer
FROM     ordered
JOIN     samples USING (sample_id, image_id)
WHERE    place <= $n
ORDER BY model, state, place
