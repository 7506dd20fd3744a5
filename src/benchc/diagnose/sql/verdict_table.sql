-- The verdicts as they are printed at the end of a run: over what it is about first.
SELECT   CASE WHEN row_number() OVER same = 1 THEN finding ELSE '' END AS finding,
         coalesce(model, about, 'all')                                 AS model,
         contrast,
         coalesce(format('{:+.3f} [{:+.3f}, {:+.3f}]', value, low, high), 'unknown')
                                                                       AS "value [interval]",
         against_zero                                                  AS "against 0",
         CASE WHEN null_name <> '' THEN null_name || ': ' || against_null ELSE '' END
                                                                       AS "against its null",
         verdict
FROM     verdicts
WHERE    scope = (SELECT coalesce(max(value ->> '$.headline'), 'selection') FROM run WHERE name = 'config')
WINDOW   same AS (PARTITION BY finding ORDER BY verdicts.rowid)
ORDER BY verdicts.rowid
