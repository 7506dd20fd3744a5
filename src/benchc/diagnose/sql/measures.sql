-- RAS and its plain companions by crossing. Every figure of a row is taken over the same pairs,
-- those that have a RAS, so that clean and corrupted stay paired.
WITH leaves AS (
    SELECT   scope, model, benchmark, category, corruption_group, corruption, severity,
             count(ras)                               AS n_pairs,
             count(*) - count(ras)                    AS n_missing,
             sum(clean_correct) FILTER (WHERE ras IS NOT NULL) AS clean_correct,
             sum(correct)       FILTER (WHERE ras IS NOT NULL) AS corrupted_correct,
             count_if(state = 'cw' AND ras IS NOT NULL)        AS right_to_wrong,
             count_if(state = 'wc' AND ras IS NOT NULL)        AS wrong_to_right,
             sum(ras)                                 AS ras,
             sum(ras) FILTER (WHERE clean_state = 'c') AS destructive,
             sum(ras) FILTER (WHERE clean_state = 'w') AS corrective,
             sum(clean_uncertainty)                   AS clean_uncertainty,
             sum(corrupted_uncertainty)               AS corrupted_uncertainty,
             sum(clean_misalignment)                  AS clean_misalignment,
             sum(corrupted_misalignment)              AS corrupted_misalignment,
             sum(clean_brier)                         AS clean_brier,
             sum(corrupted_brier)                     AS corrupted_brier,
             sum(clean_nll)                           AS clean_nll,
             sum(corrupted_nll)                       AS corrupted_nll,
             sum(clean_option_mass)                   AS clean_option_mass,
             count(clean_option_mass)                 AS n_clean_option_mass,
             sum(corrupted_option_mass)               AS corrupted_option_mass,
             count(corrupted_option_mass)             AS n_corrupted_option_mass,
             sum(clean_tie)                           AS clean_ties,
             sum(corrupted_tie)                       AS corrupted_ties
    FROM     pairs
    LEFT JOIN paired USING (model, sample_id, corruption, severity)
    GROUP BY ALL
),
sums AS (
    SELECT   scope, model, benchmark, category, corruption_group, corruption, severity,
             CAST(sum(n_pairs) AS BIGINT)   AS n_pairs,
             CAST(sum(n_missing) AS BIGINT) AS n_missing,
             sum(COLUMNS(* EXCLUDE (scope, model, benchmark, category, corruption_group, corruption,
                                    severity, n_pairs, n_missing)))
    FROM     leaves
    GROUP BY scope, model,
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
),
named AS (
    SELECT *, crossing(benchmark, category, corruption_group, corruption, severity) AS crossing
    FROM   sums
),
errors AS (
    SELECT   scope, model, crossing, benchmark, category, corruption_group, corruption, severity,
             sum(weight * abs(confidence - accuracy)) FILTER (WHERE condition = 'clean')
                 AS clean_ece,
             sum(weight * abs(confidence - accuracy)) FILTER (WHERE condition = 'corrupted')
                 AS corrupted_ece
    FROM     calibration
    GROUP BY ALL
)
SELECT   named.scope, named.model, named.crossing,
         named.benchmark, named.category, named.corruption_group, named.corruption, named.severity,
         n_pairs,
         n_missing,
         clean_correct     / nullif(n_pairs, 0)                   AS clean_accuracy,
         corrupted_correct / nullif(n_pairs, 0)                   AS corrupted_accuracy,
         (corrupted_correct - clean_correct) / nullif(n_pairs, 0) AS accuracy_change,
         corrupted_correct / nullif(clean_correct, 0)             AS relative_robustness,
         right_to_wrong    / nullif(n_pairs, 0)                   AS right_to_wrong,
         wrong_to_right    / nullif(n_pairs, 0)                   AS wrong_to_right,
         ras               / nullif(n_pairs, 0)                   AS ras,
         coalesce(destructive, 0) / nullif(n_pairs, 0)            AS destructive,
         coalesce(corrective, 0)  / nullif(n_pairs, 0)            AS corrective,
         clean_uncertainty / nullif(n_pairs, 0)                   AS clean_uncertainty,
         corrupted_uncertainty  / nullif(n_pairs, 0)              AS corrupted_uncertainty,
         clean_misalignment     / nullif(n_pairs, 0)              AS clean_misalignment,
         corrupted_misalignment / nullif(n_pairs, 0)              AS corrupted_misalignment,
         clean_ece,
         corrupted_ece,
         clean_brier       / nullif(n_pairs, 0)                   AS clean_brier,
         corrupted_brier   / nullif(n_pairs, 0)                   AS corrupted_brier,
         clean_nll         / nullif(n_pairs, 0)                   AS clean_nll,
         corrupted_nll     / nullif(n_pairs, 0)                   AS corrupted_nll,
         clean_option_mass / nullif(n_clean_option_mass, 0)       AS clean_option_mass,
         corrupted_option_mass / nullif(n_corrupted_option_mass, 0) AS corrupted_option_mass,
         clean_ties        / nullif(n_pairs, 0)                   AS clean_ties,
         corrupted_ties    / nullif(n_pairs, 0)                   AS corrupted_ties
FROM     named
LEFT JOIN errors
  ON     errors.scope = named.scope AND errors.model = named.model
 AND     errors.crossing = named.crossing
 AND     errors.benchmark        IS NOT DISTINCT FROM named.benchmark
 AND     errors.category         IS NOT DISTINCT FROM named.category
 AND     errors.corruption_group IS NOT DISTINCT FROM named.corruption_group
 AND     errors.corruption       IS NOT DISTINCT FROM named.corruption
 AND     errors.severity         IS NOT DISTINCT FROM named.severity
ORDER BY ALL
