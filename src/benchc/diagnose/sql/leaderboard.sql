-- One line per scope and model, over the pairs that have a RAS; a model that does not look at
-- pictures comes last, since no corruption moves it.
WITH samples_of AS (
    SELECT   scope, model, count(DISTINCT sample_id) AS n_samples
    FROM     scopes
    JOIN     (SELECT DISTINCT model, sample_id FROM shifts WHERE ras IS NOT NULL)
             USING (model, sample_id)
    GROUP BY scope, model
),
settings AS (
    SELECT   model, min(scoring) AS scoring, min(temperature) AS temperature
    FROM     predictions
    GROUP BY model
)
SELECT   scope,
         model,
         selector,
         coalesce(n_samples, 0) AS n_samples,
         n_pairs,
         n_missing,
         clean_accuracy,
         corrupted_accuracy,
         relative_robustness,
         ras,
         destructive,
         corrective,
         clean_uncertainty,
         corrupted_uncertainty,
         clean_option_mass,
         corrupted_option_mass,
         scoring,
         temperature,
         looks
FROM     measures
JOIN     models   USING (model)
JOIN     settings USING (model)
JOIN     model_status USING (model)
LEFT JOIN samples_of USING (scope, model)
WHERE    crossing = 'all'
ORDER BY scope DESC, is_blind(looks), ras DESC NULLS LAST, model
