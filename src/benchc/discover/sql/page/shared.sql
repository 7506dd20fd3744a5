SELECT name, failed_by, only_one, novel
FROM skills
WHERE len(failed_by) = (SELECT count(DISTINCT model) FROM questions) OR only_one
ORDER BY only_one, name
