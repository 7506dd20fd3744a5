-- "Q_cc has negative RAS": answers that stay right degrade all the same, and by more than a model
-- that only became less sure of them.
SELECT   scope, model,
         'mean RAS of Q_cc' AS contrast, 'negative' AS expected,
         kept.value, kept.low, kept.high,
         'flattening' AS null_name,
         above.value AS above_null, above.low AS above_low, above.high AS above_high
FROM     leaderboard
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'all' AND measure = 'mean_ras' AND part = 'cc') AS kept
         USING (scope, model)
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'all' AND measure = 'ras_above_flattening_kept' AND part = 'cc') AS above
         USING (scope, model)
