SELECT
    concat(
        model, ', ', way, CASE WHEN corruption <> 'clean' THEN concat(', ', corruption) ELSE '' END
    ) AS training,
    measure, step, value
FROM training
ORDER BY corruption <> 'clean', training, measure, step
