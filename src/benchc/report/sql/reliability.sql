-- The reliability diagram of every model, clean and corrupted.
SELECT   model, condition, bin_low, bin_high, n_pairs, weight, confidence, accuracy
FROM     calibration
WHERE    scope = $scope AND crossing = 'all'
ORDER BY model, condition, bin_low
