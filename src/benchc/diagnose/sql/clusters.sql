-- The pictures of each scope. They are numbered over all scopes, from 0: the clusters of one
-- bootstrap, so that selection, control and pool are compared in the same draws.
WITH numbered AS (
    SELECT image_id, row_number() OVER (ORDER BY image_id) - 1 AS image
    FROM   (SELECT DISTINCT image_id FROM scopes JOIN samples USING (sample_id))
)
SELECT   DISTINCT scope, image_id, image
FROM     scopes
JOIN     samples  USING (sample_id)
JOIN     numbered USING (image_id)
ORDER BY ALL
