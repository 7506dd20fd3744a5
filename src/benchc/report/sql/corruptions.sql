-- Mean RAS by model and corruption.
SELECT   model,
         corruption_group,
         corruption,
         sum(contribution) AS ras
FROM     source_attribution
WHERE    scope = $scope AND crossing = 'corruption'
GROUP BY model, corruption_group, corruption
ORDER BY model, corruption_group, corruption
