SELECT
    concat_ws(' ', model, way, CASE WHEN corruption <> 'clean' THEN corruption END) AS game,
    measure, step, value
FROM training
ORDER BY ALL
