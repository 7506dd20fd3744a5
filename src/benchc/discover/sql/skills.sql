-- The skills that failed questions take; failed_by and only_one are over the models tried.
SELECT skill, name, terms, meta_skill, novel, failed_by, only_one
FROM found_skills
ORDER BY skill
