-- Every question that was asked about a held-out picture.
SELECT
    concat_ws('/', a.model, a.way, a.corruption, a.severity, a.sequence, a.place) AS question_id,
    a.model,
    a.way,
    a.corruption,
    a.severity,
    a.reference_side,
    a.picture,
    a.sequence,
    a.place,
    a.question,
    a.primitives,
    s.skill  -- of valid questions; NULL for the others
FROM asked AS a
LEFT JOIN question_skills AS s ON a.valid AND s.question = a.question
ORDER BY question_id
