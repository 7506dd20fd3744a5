-- The models for which no temperature gives what RAS is compared at, and why.
SELECT   model, kind, reason
FROM     temperatures
WHERE    scope = $scope AND reason <> ''
ORDER BY model, kind DESC
