-- "Blur hurts Q_c most": its mean RAS under blur is below the lowest under any other group.
SELECT   scope, model,
         'RAS of Q_c, blur minus worst other group' AS contrast,
         'negative' AS expected,
         value, low, high
FROM     leaderboard
LEFT JOIN (SELECT * FROM intervals
           WHERE  crossing = 'corruption_group' AND corruption_group = 'blur'
           AND    measure = 'ras_above_worst_other_group' AND part = 'c')
         USING (scope, model)
