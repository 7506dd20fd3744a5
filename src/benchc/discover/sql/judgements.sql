-- What the verifier said of each question and of the answer to it.
SELECT
    concat_ws('/', model, way, corruption, severity, sequence, place) AS question_id,
    grammatical,
    atomic,
    grounded,
    objective,
    valid,
    truth,
    answer,
    correct,
    failed,
    verifier_failure
FROM asked
ORDER BY question_id
