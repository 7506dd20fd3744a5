-- The second grouping: what skills have in common.
SELECT meta_skill, min(meta_name) AS name, count(*) AS n_skills
FROM found_skills
GROUP BY meta_skill
ORDER BY meta_skill
