-- Mean RAS by correctness on the clean, then the corrupted picture; contributions add to it.
SELECT   * EXCLUDE (split) RENAME (part AS state)
FROM     attribution
WHERE    split = 'state'
ORDER BY ALL
