-- The verdicts as they are printed at the end of a run: over the benchmark's own samples.
SELECT   CASE WHEN row_number() OVER same = 1 THEN finding ELSE '' END AS finding,
         coalesce(model, 'all')                                        AS model,
         contrast,
         coalesce(format('{:+.3f} [{:+.3f}, {:+.3f}]', value, low, high), 'unknown')
                                                                       AS "value [interval]",
         verdict
FROM     verdicts
WHERE    scope = 'selection'
WINDOW   same AS (PARTITION BY finding ORDER BY verdicts.rowid)
ORDER BY verdicts.rowid
