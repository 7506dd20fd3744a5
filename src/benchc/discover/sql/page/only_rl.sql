-- Failures by questions with which no way without RL found a failure of the same model.
SELECT
    q.model, q.way, q.corruption, q.severity, q.reference_side, q.picture, q.question, v.answer, v.truth, s.name
FROM questions AS q
JOIN judgements AS v USING (question_id)
JOIN skills AS s USING (skill)
WHERE v.failed AND q.way = 'rl' AND NOT EXISTS (
    SELECT 1
    FROM questions AS o
    JOIN judgements AS w USING (question_id)
    WHERE w.failed AND o.model = q.model AND o.question = q.question
        AND list_contains($unreinforced, o.way)
)
ORDER BY
    row_number() OVER (PARTITION BY q.question, q.model ORDER BY md5(q.question_id)), md5(q.question_id)
LIMIT $limit
