-- What a contrast says against 0 and against its null, and the verdict that counts: both of them in
-- selection and control alike, or in the pool where the run is about that. A finding holds for a
-- model where all of its contrasts do, and fails
-- where one of them does.
WITH counting (scope) AS (
    SELECT unnest(CASE max(value ->> '$.headline')
                  WHEN 'pool' THEN ['pool'] ELSE ['selection', 'control'] END)
    FROM   run
    WHERE  name = 'config'
),
judged AS (
    SELECT *,
           verdict(low, high, expected) AS against_zero,
           CASE WHEN null_name <> '' THEN verdict(above_low, above_high, expected) END AS against_null
    FROM   contrasts
),
counted AS (
    SELECT   model, contrast, null_name,
             CASE WHEN count(*) < (FROM counting SELECT count(*)) THEN 'cannot tell'
                  WHEN bool_and(against_zero = 'agree'
                                AND coalesce(against_null, 'agree') = 'agree')
                  THEN 'agree'
                  WHEN bool_and(against_zero = 'disagree') THEN 'disagree'
                  ELSE 'cannot tell'
             END AS verdict
    FROM     judged
    WHERE    scope IN (FROM counting)
    GROUP BY ALL
)
SELECT   $finding AS finding,
         judged.*,
         coalesce(verdict, 'cannot tell') AS verdict,
         CASE WHEN count_if(coalesce(verdict, '') <> 'agree') OVER whole = 0 THEN 'agree'
              WHEN count_if(verdict = 'disagree') OVER whole > 0            THEN 'disagree'
              ELSE 'cannot tell'
         END AS finding_verdict
FROM     judged
LEFT JOIN counted
  ON     counted.model IS NOT DISTINCT FROM judged.model
 AND     counted.contrast = judged.contrast AND counted.null_name = judged.null_name
WINDOW   whole AS (PARTITION BY judged.scope, judged.model)
ORDER BY judged.scope DESC, judged.model, judged.contrast, judged.null_name
