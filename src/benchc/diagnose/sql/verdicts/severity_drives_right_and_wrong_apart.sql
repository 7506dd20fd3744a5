-- "With severity Q_c falls and Q_w rises": mean RAS at the last severity minus at the first.
SELECT scope, model,
       CASE part WHEN 'c' THEN 'RAS of Q_c, last minus first severity'
                 ELSE 'RAS of Q_w, last minus first severity' END AS contrast,
       CASE part WHEN 'c' THEN 'negative' ELSE 'positive' END AS expected,
       value, low, high
FROM   intervals
WHERE  crossing = 'all' AND measure = 'severity_trend'
