-- One line per scope and model. Every mean is taken over the pairs that have a RAS, so that clean
-- and corrupted stay paired: a sample's clean row counts once for each of its pairs.
WITH figures AS (
    SELECT   pairs.scope,
             pairs.model,
             count(DISTINCT pairs.sample_id) FILTER (WHERE ras IS NOT NULL)  AS n_samples,
             count(ras)                                                      AS n_pairs,
             count(*) - count(ras)                                           AS n_missing,
             avg(clean_correct)           FILTER (WHERE ras IS NOT NULL)     AS clean_accuracy,
             avg(pairs.correct)           FILTER (WHERE ras IS NOT NULL)     AS corrupted_accuracy,
             avg(ras)                                                        AS ras,
             coalesce(sum(ras) FILTER (WHERE source = 'c'), 0)               AS ras_sum_c,
             coalesce(sum(ras) FILTER (WHERE source = 'w'), 0)               AS ras_sum_w,
             avg(clean.uncertainty)       FILTER (WHERE ras IS NOT NULL)     AS clean_uncertainty,
             avg(corrupted.uncertainty)   FILTER (WHERE ras IS NOT NULL)     AS corrupted_uncertainty,
             avg(clean_said.option_mass)  FILTER (WHERE ras IS NOT NULL)     AS clean_option_mass,
             avg(corrupted_said.option_mass)
                                          FILTER (WHERE ras IS NOT NULL)     AS corrupted_option_mass,
             min(corrupted_said.scoring)                                     AS scoring,
             min(corrupted_said.temperature)                                 AS temperature
    FROM     pairs
    JOIN     scores AS corrupted USING (model, sample_id, corruption, severity)
    JOIN     predictions AS corrupted_said USING (model, sample_id, corruption, severity)
    JOIN     scores AS clean
      ON     clean.model = pairs.model AND clean.sample_id = pairs.sample_id
     AND     clean.corruption = 'clean'
    JOIN     predictions AS clean_said
      ON     clean_said.model = pairs.model AND clean_said.sample_id = pairs.sample_id
     AND     clean_said.corruption = 'clean'
    GROUP BY pairs.scope, pairs.model
)
SELECT   scope,
         model,
         selector,
         n_samples,
         n_pairs,
         n_missing,
         clean_accuracy,
         corrupted_accuracy,
         corrupted_accuracy / nullif(clean_accuracy, 0) AS relative_robustness,
         ras,
         ras_sum_c / nullif(n_pairs, 0)                 AS destructive,
         ras_sum_w / nullif(n_pairs, 0)                 AS corrective,
         clean_uncertainty,
         corrupted_uncertainty,
         clean_option_mass,
         corrupted_option_mass,
         scoring,
         temperature
FROM     figures
JOIN     models USING (model)
ORDER BY scope DESC, ras DESC NULLS LAST, model
