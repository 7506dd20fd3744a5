-- The models and how they were asked.
SELECT   model, selector, settings, fingerprint
FROM     models
ORDER BY model
