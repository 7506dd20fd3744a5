-- How the two predictions of each pair ended, and the blank control's beside the clean one.
SELECT   scopes.scope,
         scopes.model,
         said.corruption,
         said.severity,
         clean.status AS clean_status,
         said.status  AS status,
         count(*)     AS n_pairs
FROM     scopes
JOIN     predictions AS said  USING (model, sample_id)
JOIN     predictions AS clean
  ON     clean.model = scopes.model AND clean.sample_id = scopes.sample_id
 AND     clean.corruption = 'clean'
WHERE    said.corruption <> 'clean'
GROUP BY ALL
ORDER BY ALL
