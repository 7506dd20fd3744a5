-- Each two models from both sides.
WITH between_models AS (
    SELECT * EXCLUDE (other_scope) FROM differences WHERE other_scope = scope
)
SELECT * FROM between_models
UNION ALL BY NAME
SELECT * REPLACE (other AS model, model AS other,
                  -difference AS difference, -high AS low, -low AS high)
FROM   between_models
