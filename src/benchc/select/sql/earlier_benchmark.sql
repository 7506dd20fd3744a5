-- What an earlier run kept, and the models that chose it.
SELECT (SELECT list(sample_id ORDER BY sample_id) FROM selection WHERE kept) AS kept,
       (SELECT list(model ORDER BY model) FROM models WHERE selector)        AS selectors
