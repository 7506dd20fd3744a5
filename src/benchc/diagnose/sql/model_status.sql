-- Every model of the config, also those that this run goes on without.
WITH left_out AS (
    SELECT unnest(from_json(value::JSON -> 'leave_out', '["VARCHAR"]')) AS model
    FROM   run
    WHERE  name = 'config'
),
endings AS (
    SELECT   model, status, count(*) AS n
    FROM     predictions
    GROUP BY model, status
)
SELECT   model,
         CASE WHEN count_if(status = 'ok') > 0 THEN 'measured' ELSE 'failed' END AS state,
         CAST(sum(n) AS BIGINT)                                                AS n_predictions,
         CAST(coalesce(sum(n) FILTER (WHERE status <> 'ok'), 0) AS BIGINT)     AS n_failed,
         string_agg(format('{} {}', status, n), ', ' ORDER BY n DESC, status)
             FILTER (WHERE status <> 'ok')                                     AS reason,
         any_value(settings::JSON ->> '$.run.looks.verdict')                   AS looks
FROM     endings
JOIN     models USING (model)
GROUP BY model
UNION ALL
SELECT   model, 'left_out', 0, 0, 'the config''s leave_out names it', NULL
FROM     left_out
ORDER BY model
