-- The pixel hashes of what the models saw, to hold the pictures drawn here against.
SELECT   corruption, severity, pixels_sha256
FROM     corrupted
WHERE    image_id = $image_id
ORDER BY corruption, severity
