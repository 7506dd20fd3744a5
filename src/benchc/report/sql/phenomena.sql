-- Shares of the named phenomena, one line a model and phenomenon, one column a tolerance.
SELECT   model,
         phenomenon,
         max(share) FILTER (WHERE tau = 0)    AS at_zero,
         max(share) FILTER (WHERE tau = 0.01) AS at_hundredth,
         max(share) FILTER (WHERE tau = 0.1)  AS at_tenth
FROM     phenomena
WHERE    scope = $scope AND crossing = 'all'
GROUP BY model, phenomenon
ORDER BY model, phenomenon
