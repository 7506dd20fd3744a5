-- What never reached the pool.
SELECT   benchmark, reason, count(*) AS n
FROM     rejected
GROUP BY ALL
ORDER BY n DESC, benchmark, reason
