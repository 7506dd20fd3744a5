-- Mean RAS = share_c * RAS_c (destructive) + share_w * RAS_w (corrective).
SELECT   * EXCLUDE (split) RENAME (part AS source)
FROM     attribution
WHERE    split = 'source'
ORDER BY ALL
