-- Facts about the run.
SELECT   name, value
FROM     run
ORDER BY name
