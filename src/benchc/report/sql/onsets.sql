-- Of the trajectories that are lost or gained for good, those whose change comes at the last
-- severity, and so was seen once only.
WITH last AS (
    SELECT max(severity) AS severity FROM pairs WHERE scope = $scope
)
SELECT   model,
         class,
         CAST(sum(n_trajectories) AS BIGINT)                                     AS n,
         CAST(coalesce(sum(n_trajectories) FILTER (WHERE onset = severity), 0) AS BIGINT) AS n_last
FROM     onsets, last
WHERE    scope = $scope AND class IN ('persistent_loss', 'persistent_gain')
GROUP BY model, class
ORDER BY model, class
