-- The differences between models of which one may be the best: both look at the pictures.
WITH blind AS (
    SELECT model FROM model_status WHERE is_blind(looks)
)
SELECT *
FROM   simultaneous_differences
WHERE  model NOT IN (FROM blind) AND other NOT IN (FROM blind)
