-- "Q_cc has negative RAS": answers that stay right degrade all the same.
SELECT   scope, model, 'mean RAS of Q_cc' AS contrast, 'negative' AS expected, value, low, high
FROM     leaderboard
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'all' AND measure = 'mean_ras' AND part = 'cc')
         USING (scope, model)
