-- The published findings, each contrast with its interval, and what it says of this run, in the
-- order in which the database holds them.
SELECT   finding, model, contrast, expected, value, low, high, verdict, finding_verdict
FROM     verdicts
WHERE    scope = $scope
ORDER BY rowid
