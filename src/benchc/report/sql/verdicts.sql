-- The published findings, each contrast with its interval, and what it says of this run, in the
-- order in which the database holds them.
SELECT   finding, model, about, contrast, expected, value, low, high, against_zero,
         null_name, above_null, above_low, above_high, against_null, verdict, finding_verdict
FROM     verdicts
WHERE    scope = $scope
ORDER BY rowid
