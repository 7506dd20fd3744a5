-- "Gains come from Q_wc and coexist with damage on Q_c": the one part of RAS is above 0, the other
-- below it.
WITH stated (part, contrast, expected) AS (
    VALUES ('wc', 'part of RAS from Q_wc', 'positive'),
           ('c',  'part of RAS from Q_c',  'negative')
)
SELECT   scope, model, contrast, expected, value, low, high
FROM     leaderboard
CROSS JOIN stated
LEFT JOIN (SELECT * FROM intervals WHERE crossing = 'all' AND measure = 'contribution')
         USING (scope, model, part)
