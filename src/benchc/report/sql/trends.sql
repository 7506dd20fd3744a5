-- Mean RAS of Q_c and Q_w by severity, and what each null alone would give.
SELECT   model,
         severity,
         part AS clean_state,
         CASE measure WHEN 'mean_ras' THEN 'measured' ELSE replace(measure, '_ras', '') END AS kind,
         n_pairs, value, low, high
FROM     intervals
WHERE    scope = $scope AND crossing = 'severity' AND part IN ('c', 'w')
  AND    measure IN ('mean_ras', 'flattening_ras', 'blank_ras')
ORDER BY model, clean_state, kind, severity
