-- RAS is not scale-free: one model's rows have to share scoring and temperature.
SELECT   model,
         'rows mix ' || string_agg(format('{} at temperature {}', scoring, temperature), ', '
                                   ORDER BY scoring, temperature) AS fault
FROM     (SELECT DISTINCT model, scoring, temperature FROM predictions)
GROUP BY model
HAVING   count(*) > 1
ORDER BY ALL
