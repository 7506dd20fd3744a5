-- The picture of the grid: of the kept samples whose picture is not large, the first one walked.
SELECT    sample_id, samples.image_id, question, kept
FROM      samples
JOIN      selection USING (sample_id)
LEFT JOIN images ON images.image_id = samples.image_id
ORDER BY  NOT kept,
          coalesce(greatest(images.width, images.height) > $side, FALSE),
          rank NULLS LAST,
          sample_id
LIMIT     1
