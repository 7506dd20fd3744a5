-- Mean RAS by the class of the trajectory a pair lies on; contributions add to it.
-- An incomplete trajectory keeps its contribution.
SELECT   * EXCLUDE (split) RENAME (part AS class)
FROM     attribution
WHERE    split = 'class'
ORDER BY ALL
