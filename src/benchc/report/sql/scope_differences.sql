-- By how much the mean RAS of the selection differs from that of another scope.
SELECT   model, other_scope, difference AS value, low, high
FROM     differences
WHERE    model = other AND measure = 'ras' AND difference IS NOT NULL
ORDER BY model, other_scope
