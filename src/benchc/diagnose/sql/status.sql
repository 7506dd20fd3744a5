-- Every model of the config, also those that this run went on without.
WITH left_out AS (
    SELECT unnest(from_json(value::JSON -> 'leave_out', '["VARCHAR"]')) AS model
    FROM   run
    WHERE  name = 'config'
)
SELECT   model,
         'measured'                              AS state,
         count(*)                                AS n_predictions,
         count(*) FILTER (WHERE status <> 'ok')  AS n_failed
FROM     predictions
GROUP BY model
UNION ALL
SELECT   model, 'left_out', 0, 0
FROM     left_out
ORDER BY model
