-- How far the mean RAS of Q_c and Q_w lies above what each null would give.
SELECT   model, part AS clean_state, replace(measure, 'ras_above_', '') AS kind, value, low, high
FROM     intervals
WHERE    scope = $scope AND crossing = 'all' AND part IN ('c', 'w')
  AND    measure IN ('ras_above_flattening', 'ras_above_blank')
ORDER BY model, clean_state, kind
