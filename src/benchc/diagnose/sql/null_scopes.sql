-- Where nulls are computed: in selection and control, and in the pool where the run is about it.
SELECT DISTINCT scope, model
FROM   scopes
WHERE  scope <> 'pool'
   OR  (SELECT coalesce(max(value ->> '$.headline'), '') FROM run WHERE name = 'config') = 'pool'
