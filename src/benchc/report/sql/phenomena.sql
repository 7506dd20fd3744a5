-- Shares of the named phenomena, one line per model and phenomenon: at a tolerance of 0.01 with its
-- 95 % interval, and at the two others.
WITH ends AS (
    SELECT model, part AS phenomenon, tau, low, high
    FROM   intervals
    WHERE  scope = $scope AND crossing = 'all' AND measure = 'share' AND tau IS NOT NULL
)
SELECT    model,
          phenomenon,
          max(share) FILTER (WHERE tau = 0.01) AS value,
          max(low)   FILTER (WHERE tau = 0.01) AS low,
          max(high)  FILTER (WHERE tau = 0.01) AS high,
          max(share) FILTER (WHERE tau = 0)    AS at_zero,
          max(share) FILTER (WHERE tau = 0.1)  AS at_tenth
FROM      phenomena
LEFT JOIN ends USING (model, phenomenon, tau)
WHERE     scope = $scope AND crossing = 'all'
GROUP BY  model, phenomenon
ORDER BY  model,
          list_position(['silent_degradation', 'overconfident_degradation', 'hesitant_support',
                         'lucky_guess', 'unstable_gain'], phenomenon)
