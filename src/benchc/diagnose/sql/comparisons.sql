-- Each two models from both sides.
SELECT * FROM differences
UNION ALL BY NAME
SELECT * REPLACE (other AS model, model AS other,
                  -difference AS difference, -high AS low, -low AS high)
FROM   differences
