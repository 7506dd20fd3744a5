-- Failures / questions asked for each primitive, over tenths of the RL training on clean pictures.
WITH counted AS (
    SELECT s.primitive, 1 + ((s.step - 1) * 10) // t.last AS part, s.asked, s.failed
    FROM steps AS s
    JOIN (
        SELECT model, way, corruption, max(step) AS last FROM steps GROUP BY ALL
    ) AS t USING (model, way, corruption)
    WHERE s.way = 'rl' AND s.corruption = 'clean'
)
SELECT primitive, part, sum(failed) / sum(asked) AS rate
FROM counted
GROUP BY ALL
ORDER BY ALL
