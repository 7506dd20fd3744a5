-- Correctness over the severities of one model, sample and corruption: does it change, does it stay
-- changed, and from which severity on (onset)? Severities: those of this run.
WITH walks AS (
    SELECT   model,
             sample_id,
             corruption,
             max(clean_correct)                                       AS clean_correct,
             count(correct)                                           AS n_seen,
             min(severity) FILTER (WHERE correct <> clean_correct)    AS onset,
             max(severity) FILTER (WHERE correct =  clean_correct)    AS unchanged
    FROM     shifts
    GROUP BY model, sample_id, corruption
),
expected AS (
    SELECT count(DISTINCT severity) AS n_severities FROM shifts
),
judged AS (
    SELECT *, n_seen = n_severities AND clean_correct IS NOT NULL AS is_complete
    FROM   walks
    CROSS JOIN expected
)
SELECT   model,
         sample_id,
         corruption,
         CASE WHEN is_complete THEN trajectory_class(clean_correct, onset, unchanged)
              ELSE 'incomplete'
         END                                 AS class,
         CASE WHEN is_complete THEN onset END AS onset
FROM     judged
ORDER BY model, sample_id, corruption
