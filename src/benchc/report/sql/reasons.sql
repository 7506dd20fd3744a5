-- Why samples were kept or left out; near duplicates are counted together.
SELECT   split_part(reason, ':', 1) AS reason,
         count(*)                   AS n,
         count_if(kept)             AS n_kept,
         count_if(control)          AS n_control
FROM     selection
GROUP BY ALL
ORDER BY n DESC, reason
