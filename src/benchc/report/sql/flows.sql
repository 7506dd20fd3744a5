-- From one severity to the next: the share of complete trajectories that are right and wrong
-- before and after. Severity 0 is the clean picture.
WITH points AS (
    SELECT model, sample_id, corruption, severity, correct
    FROM   pairs
    WHERE  scope = $scope AND class <> 'incomplete'
    UNION
    SELECT model, sample_id, corruption, 0, clean_correct
    FROM   pairs
    WHERE  scope = $scope AND class <> 'incomplete'
),
steps AS (
    SELECT *,
           lead(correct)  OVER trajectory AS next_correct,
           lead(severity) OVER trajectory AS next_severity
    FROM   points
    WINDOW trajectory AS (PARTITION BY model, sample_id, corruption ORDER BY severity)
)
SELECT   model, severity, next_severity, correct, next_correct,
         count(*)                                                     AS n,
         count(*) / sum(count(*)) OVER (PARTITION BY model, severity) AS share
FROM     steps
WHERE    next_severity IS NOT NULL
GROUP BY model, severity, next_severity, correct, next_correct
ORDER BY model, severity, correct DESC, next_correct DESC
