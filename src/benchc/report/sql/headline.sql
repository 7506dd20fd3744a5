-- The scope that the run is about first.
SELECT coalesce(max(value ->> '$.headline'), 'selection') AS headline
FROM   run
WHERE  name = 'config'
