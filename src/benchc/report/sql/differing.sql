-- What the two runs say of themselves: facts of the run (but when and from what each database was built), and the
-- fingerprint of each model.
SELECT   name, first.run.value AS first, other.value AS second
FROM     first.run
FULL JOIN second.run AS other USING (name)
WHERE    name NOT IN ('made.at', 'made.from')
UNION ALL
SELECT   'model ' || model, models.fingerprint, other.fingerprint
FROM     first.models
FULL JOIN second.models AS other USING (model)
ORDER BY name
