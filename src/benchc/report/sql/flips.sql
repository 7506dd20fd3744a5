-- How often the published score has the sign a reader would not expect at a flip.
SELECT   model,
         count_if(state = 'cw')             AS n_lost,
         count_if(state = 'cw' AND ras > 0) AS n_lost_raised,
         count_if(state = 'wc')             AS n_gained,
         count_if(state = 'wc' AND ras < 0) AS n_gained_lowered
FROM     pairs
WHERE    scope = $scope AND ras IS NOT NULL
GROUP BY model
ORDER BY model
