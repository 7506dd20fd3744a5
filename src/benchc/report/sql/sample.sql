-- One sample, and whether the selection kept it or drew it for the control.
SELECT    sample_id, question, options, answer, image_id, source_ref, source_row, picture_file,
          extra,
          coalesce(kept, FALSE)    AS selection,
          coalesce(control, FALSE) AS control
FROM      samples
LEFT JOIN selection USING (sample_id)
WHERE     sample_id = $sample_id
