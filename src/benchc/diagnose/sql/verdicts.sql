-- A finding holds for a model where all of its contrasts do, and fails where one of them does.
SELECT   $finding AS finding,
         *,
         CASE WHEN count_if(verdict <> 'agree') OVER whole = 0   THEN 'agree'
              WHEN count_if(verdict = 'disagree') OVER whole > 0 THEN 'disagree'
              ELSE 'cannot tell'
         END AS finding_verdict
FROM     (SELECT *, verdict(low, high, expected) AS verdict FROM contrasts)
WINDOW   whole AS (PARTITION BY scope, model)
ORDER BY scope DESC, model, contrast
