-- The leaderboard of every scope, each line with what guessing would score on the same pairs.
-- Questions share pictures, so the standard error counts pictures, not questions.
WITH guessing AS (
    SELECT   scope,
             model,
             avg(1.0 / len(options)) FILTER (WHERE ras IS NOT NULL)    AS chance,
             count(DISTINCT pairs.image_id) FILTER (WHERE ras IS NOT NULL) AS n_pictures
    FROM     pairs
    JOIN     samples USING (sample_id)
    GROUP BY scope, model
),
judged AS (
    SELECT *, sqrt(chance * (1 - chance) / nullif(n_pictures, 0)) AS standard_error
    FROM   leaderboard
    JOIN   guessing USING (scope, model)
)
SELECT   *,
         coalesce(abs(clean_accuracy - chance) <= 2 * standard_error, FALSE) AS near_chance,
         coalesce(clean_accuracy < chance - 2 * standard_error, FALSE)       AS below_chance
FROM     judged
ORDER BY list_position(['selection', 'control', 'pool'], scope),
         is_blind(looks), ras DESC NULLS LAST, model
