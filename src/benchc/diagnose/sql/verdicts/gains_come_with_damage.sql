-- "Gains come from Q_wc and coexist with damage on Q_c": the one part of RAS is above 0, the other
-- below it, and more so than from the corrupted picture back to the clean one.
WITH stated (part, contrast, expected) AS (
    VALUES ('wc', 'part of RAS from Q_wc', 'positive'),
           ('c',  'part of RAS from Q_c',  'negative')
)
SELECT   scope, model, contrast, expected,
         forward.value, forward.low, forward.high,
         'swapped roles' AS null_name,
         above.value AS above_null, above.low AS above_low, above.high AS above_high
FROM     leaderboard
CROSS JOIN stated
LEFT JOIN (SELECT * FROM intervals WHERE crossing = 'all' AND measure = 'contribution') AS forward
         USING (scope, model, part)
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'all' AND measure = 'contribution_above_swapped') AS above
         USING (scope, model, part)
