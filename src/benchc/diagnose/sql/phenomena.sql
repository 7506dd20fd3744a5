-- How often the protocol's named phenomena occur among pairs that have a RAS. tau keeps rounding
-- from being a finding; lucky guesses do not depend on it and stand at every tau.
WITH taus (tau) AS (
    VALUES (CAST(0 AS DOUBLE)), (0.01), (0.1)
),
leaves AS (
    SELECT   scope, model, benchmark, category, corruption_group, corruption, severity, tau,
             count(ras)            AS n_whole,
             count(*) - count(ras) AS n_missing,
             count_if(silent_degradation(state, ras, tau)) AS silent_degradation,
             count_if(overconfident_degradation(misalignment_shift, uncertainty_shift, tau))
                                                           AS overconfident_degradation,
             count_if(hesitant_support(misalignment_shift, uncertainty_shift, tau))
                                                           AS hesitant_support,
             count_if(lucky_guess(state, class))           AS lucky_guess,
             count_if(unstable_gain(state, ras, tau))      AS unstable_gain
    FROM     pairs
    CROSS JOIN taus
    GROUP BY ALL
),
crossed AS (
    SELECT   scope, model, benchmark, category, corruption_group, corruption, severity, tau,
             sum(n_whole)                   AS n_whole,
             sum(n_missing)                 AS n_missing,
             sum(silent_degradation)        AS silent_degradation,
             sum(overconfident_degradation) AS overconfident_degradation,
             sum(hesitant_support)          AS hesitant_support,
             sum(lucky_guess)               AS lucky_guess,
             sum(unstable_gain)             AS unstable_gain
    FROM     leaves
    GROUP BY scope, model, tau,
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
         phenomenon,
         tau,
         n_pairs,
         n_missing,
         n_pairs / nullif(n_whole, 0) AS share
FROM     crossed
UNPIVOT  (n_pairs FOR phenomenon IN (silent_degradation, overconfident_degradation,
                                     hesitant_support, lucky_guess, unstable_gain))
ORDER BY ALL
