-- Every measure of every model over all its pairs, with its 95 % interval.
SELECT   scope, model, measure, value, low, high, n_pairs, n_images
FROM     intervals
WHERE    crossing = 'all' AND part IS NULL
ORDER BY scope, model, measure
