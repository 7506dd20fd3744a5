-- Reliability diagrams: confidence against accuracy in 15 equal bins, clean and corrupted.
-- Over the bins, sum(weight * abs(confidence - accuracy)) is the expected calibration error.
WITH answers AS (
    SELECT scope, model, benchmark, category, corruption_group, corruption, severity,
           'clean' AS condition, clean_confidence AS confidence, clean_correct AS correct
    FROM   pairs
    JOIN   paired USING (model, sample_id, corruption, severity)
    UNION ALL
    SELECT scope, model, benchmark, category, corruption_group, corruption, severity,
           'corrupted', corrupted_confidence, correct
    FROM   pairs
    JOIN   paired USING (model, sample_id, corruption, severity)
),
leaves AS (
    SELECT   scope, model, benchmark, category, corruption_group, corruption, severity, condition,
             confidence_bin(confidence) AS bin,
             count(*)                   AS n_pairs,
             sum(confidence)            AS confidence_sum,
             sum(correct)               AS n_correct
    FROM     answers
    GROUP BY ALL
),
crossed AS (
    SELECT   scope, model, benchmark, category, corruption_group, corruption, severity,
             condition, bin,
             CAST(sum(n_pairs) AS BIGINT) AS n_pairs,
             sum(confidence_sum)          AS confidence_sum,
             sum(n_correct)               AS n_correct
    FROM     leaves
    GROUP BY scope, model, condition, bin,
             GROUPING SETS ((),
                            (severity),
                            (corruption_group),
                            (corruption_group, severity),
                            (corruption_group, corruption),
                            (corruption_group, corruption, severity),
                            (benchmark),
                            (benchmark, severity),
                            (benchmark, corruption_group),
                            (benchmark, category),
                            (benchmark, category, corruption_group))
)
SELECT   scope,
         model,
         crossing(benchmark, category, corruption_group, corruption, severity) AS crossing,
         benchmark, category, corruption_group, corruption, severity,
         condition,
         bin,
         (bin - 1) / 15           AS bin_low,
         bin / 15                 AS bin_high,
         n_pairs,
         n_pairs / sum(n_pairs) OVER (PARTITION BY scope, model, benchmark, category,
                                                   corruption_group, corruption, severity,
                                                   condition) AS weight,
         confidence_sum / n_pairs AS confidence,
         n_correct / n_pairs      AS accuracy
FROM     crossed
ORDER BY ALL
