-- Models can be compared only over the same corruptions and severities: all that were rendered.
WITH conditions AS (
    SELECT DISTINCT corruption, severity FROM predictions WHERE severity >= 1
    UNION
    SELECT DISTINCT corruption, severity FROM corrupted
)
SELECT   model,
         format('not run under {} severity {}, unlike other models or the rendered pictures',
                corruption, severity) AS fault
FROM     (SELECT DISTINCT model FROM predictions)
CROSS JOIN conditions
ANTI JOIN (SELECT DISTINCT model, corruption, severity FROM predictions)
          USING (model, corruption, severity)
ORDER BY ALL
