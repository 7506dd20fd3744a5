SELECT
    m.meta_skill, m.name AS meta_name, s.skill, s.name, s.novel, s.only_one,
    (SELECT min(question) FROM questions WHERE skill = s.skill) AS example,
    r.model, r.failure_rate
FROM skill_failure_rates AS r
LEFT JOIN skills AS s ON r.level = 'skill' AND s.skill = r.node
JOIN meta_skills AS m ON m.meta_skill = coalesce(s.meta_skill, r.node)
WHERE r.corruption = 'clean'
ORDER BY m.meta_skill, s.skill NULLS FIRST, r.model
