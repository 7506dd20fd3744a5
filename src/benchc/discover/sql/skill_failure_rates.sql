-- Failures / valid questions of every model at every node of the tree, all ways together.
-- level: skill or meta_skill; node: its number.
WITH asked_for AS (
    SELECT q.model, q.corruption, q.severity, q.skill, s.meta_skill, v.failed
    FROM questions AS q
    JOIN judgements AS v USING (question_id)
    JOIN found_skills AS s USING (skill)
    WHERE v.valid AND v.verifier_failure IS NULL
),
nodes AS (
    SELECT model, corruption, severity, 'skill' AS level, skill AS node, failed FROM asked_for
    UNION ALL
    SELECT model, corruption, severity, 'meta_skill', meta_skill, failed FROM asked_for
)
SELECT
    level,
    node,
    model,
    corruption,
    severity,
    count(*) AS n_valid,
    count(*) FILTER (WHERE failed) AS n_failed,
    count_if(failed) / count(*) AS failure_rate
FROM nodes
GROUP BY ALL
ORDER BY ALL
