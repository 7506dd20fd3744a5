-- The pictures of each scope, numbered from 0: the clusters of the bootstrap.
SELECT   scope, image_id,
         row_number() OVER (PARTITION BY scope ORDER BY image_id) - 1 AS image
FROM     (SELECT DISTINCT scope, image_id FROM scopes JOIN samples USING (sample_id))
ORDER BY ALL
