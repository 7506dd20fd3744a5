SELECT
    q.model, q.corruption, q.severity, q.way,
    count(*) AS n_asked,
    count(*) FILTER (WHERE v.failed) AS n_failed,
    count(*) FILTER (WHERE v.verifier_failure IS NOT NULL) AS n_unjudged
FROM questions AS q
JOIN judgements AS v USING (question_id)
GROUP BY ALL
ORDER BY ALL
