-- Failures / questions asked for each primitive, over tenths of the RL training on clean pictures;
-- a tenth in which it was asked for fewer than 10 times says nothing.
WITH counted AS (
    SELECT s.model, s.primitive, 1 + ((s.step - 1) * 10) // t.last AS part, s.asked, s.failed
    FROM steps AS s
    JOIN (
        SELECT model, way, corruption, max(step) AS last FROM steps GROUP BY ALL
    ) AS t USING (model, way, corruption)
    WHERE s.way = 'rl' AND s.corruption = 'clean'
)
SELECT model, primitive, part, sum(failed) / sum(asked) AS rate
FROM counted
GROUP BY ALL
HAVING sum(asked) >= 10
ORDER BY ALL
