-- Trajectories by class and by the severity at which they first differ from clean.
-- A persistent change whose onset is the last severity has been seen once only.
SELECT   scope, model, corruption, class, onset, count(*) AS n_trajectories
FROM     scopes
JOIN     trajectories USING (model, sample_id)
GROUP BY ALL
ORDER BY ALL
