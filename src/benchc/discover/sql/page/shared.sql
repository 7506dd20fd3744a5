SELECT name, failed_by, only_one, novel
FROM skills
WHERE len(failed_by) = (SELECT max(len(failed_by)) FROM skills) OR only_one
ORDER BY only_one, name
