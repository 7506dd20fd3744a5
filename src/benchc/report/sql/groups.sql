-- Mean RAS by model and group of corruptions: the sum of its two source contributions.
SELECT   model,
         corruption_group,
         CAST(sum(n_pairs) AS BIGINT)                        AS n_pairs,
         sum(contribution)                                   AS ras,
         sum(contribution) FILTER (WHERE source = 'c')       AS destructive,
         sum(contribution) FILTER (WHERE source = 'w')       AS corrective
FROM     source_attribution
WHERE    scope = $scope AND crossing = 'corruption_group'
GROUP BY model, corruption_group
ORDER BY model, corruption_group
