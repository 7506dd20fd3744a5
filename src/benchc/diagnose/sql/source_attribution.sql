-- Mean RAS = share_c * RAS_c (destructive) + share_w * RAS_w (corrective).
SELECT   * EXCLUDE (split) RENAME (part AS clean_state)
FROM     attribution
WHERE    split = 'clean_state'
ORDER BY ALL
