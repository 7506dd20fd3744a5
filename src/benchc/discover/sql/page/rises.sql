-- Skills whose failure rate rises most from clean to corrupted pictures; 10 valid questions or more.
SELECT
    c.model, d.corruption, d.severity, s.name,
    c.failure_rate AS clean_rate, d.failure_rate AS corrupted_rate, c.n_valid AS n_clean,
    d.n_valid AS n_corrupted
FROM skill_failure_rates AS c
JOIN skill_failure_rates AS d USING (level, node, model)
JOIN skills AS s ON s.skill = c.node
WHERE c.level = 'skill' AND c.corruption = 'clean' AND d.corruption <> 'clean'
    AND c.n_valid >= 10 AND d.n_valid >= 10 AND d.failure_rate > c.failure_rate
ORDER BY d.failure_rate - c.failure_rate DESC, s.skill, c.model
LIMIT $limit
