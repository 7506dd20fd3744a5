-- For each model the group of corruptions with the lowest and the one with the highest mean RAS.
WITH by_group AS (
    SELECT   model, corruption_group, sum(contribution) AS ras
    FROM     source_attribution
    WHERE    scope = $scope AND crossing = 'corruption_group'
    GROUP BY model, corruption_group
    HAVING   sum(contribution) IS NOT NULL
),
ordered AS (
    SELECT *,
           row_number() OVER (PARTITION BY model ORDER BY ras, corruption_group)           AS lowest,
           row_number() OVER (PARTITION BY model ORDER BY ras DESC, corruption_group DESC) AS highest
    FROM   by_group
)
SELECT   model,
         max(corruption_group) FILTER (WHERE lowest = 1)  AS worst_group,
         max(ras)              FILTER (WHERE lowest = 1)  AS worst_ras,
         max(corruption_group) FILTER (WHERE highest = 1) AS best_group,
         max(ras)              FILTER (WHERE highest = 1) AS best_ras,
         count(*)                                         AS n_groups
FROM     ordered
GROUP BY model
ORDER BY model
