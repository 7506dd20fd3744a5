-- The most frequent failure skills of each model on clean pictures.
SELECT r.model, s.name, r.n_failed, r.n_valid, r.failure_rate
FROM skill_failure_rates AS r
JOIN skills AS s ON s.skill = r.node
WHERE r.level = 'skill' AND r.corruption = 'clean' AND r.n_failed > 0
QUALIFY row_number() OVER (PARTITION BY r.model ORDER BY r.n_failed DESC, s.skill) <= $limit
ORDER BY r.model, r.n_failed DESC, s.skill
