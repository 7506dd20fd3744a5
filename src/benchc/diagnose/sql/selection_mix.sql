-- How many pairs of one model the selection holds, by benchmark and picture.
SELECT   benchmark, image, count(*) AS n_pairs
FROM     pairs
JOIN     clusters USING (scope, image_id)
WHERE    scope = 'selection' AND model = $model AND ras IS NOT NULL
GROUP BY benchmark, image
ORDER BY benchmark, image
