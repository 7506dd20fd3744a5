-- The published findings, each contrast with its interval, and what it says of this run.
SELECT   finding, model, contrast, expected, value, low, high, verdict, finding_verdict
FROM     verdicts
WHERE    scope = $scope
ORDER BY finding, model NULLS FIRST, contrast
