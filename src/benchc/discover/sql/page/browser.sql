-- One failure a skill and model in turn, so that a short list shows many skills.
SELECT
    q.model, q.way, q.corruption, q.severity, q.reference_side, q.picture, q.question, v.answer, v.truth, s.name
FROM questions AS q
JOIN judgements AS v USING (question_id)
JOIN skills AS s USING (skill)
WHERE v.failed
ORDER BY
    row_number() OVER (PARTITION BY q.skill, q.model ORDER BY md5(q.question_id)), md5(q.question_id)
LIMIT $limit
