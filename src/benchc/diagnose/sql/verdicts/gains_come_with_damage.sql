-- "Gains come from Q_wc and coexist with damage on Q_c": the one part of RAS is above 0, the other
-- below it.
SELECT scope, model,
       CASE part WHEN 'wc' THEN 'part of RAS from Q_wc' ELSE 'part of RAS from Q_c' END AS contrast,
       CASE part WHEN 'wc' THEN 'positive' ELSE 'negative' END AS expected,
       value, low, high
FROM   intervals
WHERE  crossing = 'all' AND measure = 'contribution' AND part IN ('wc', 'c')
