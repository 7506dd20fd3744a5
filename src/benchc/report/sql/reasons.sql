-- Why samples were kept or left out; near duplicates are counted together.
SELECT   replace(split_part(reason, ':', 1), 'near_duplicate_of', 'near_duplicate') AS reason,
         count(*) AS n
FROM     selection
GROUP BY ALL
ORDER BY n DESC, reason
