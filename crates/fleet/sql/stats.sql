-- The calls of each method one by one: shortest, longest, average, deviation. Times as measured, callees included; a call within a call of
-- the same method counts for itself. As `instrument stats`.
SELECT n.name AS function, sum(calls) AS calls, sum(exits + unwinds + aborted + unclosed) AS ended,
       sum(wall_raw_total) AS total,
       min(min_ns) AS min, max(max_ns) AS max,
       (sum(wall_raw_total) - sum(open_ns)) / nullif(sum(exits + unwinds + aborted + unclosed), 0) AS average,
       CASE WHEN sum(timed) > 0 THEN sqrt(greatest(0,
           sum(sum_squares) / sum(exits + unwinds + aborted + unclosed)
           - (sum(closed_ns) / sum(exits + unwinds + aborted + unclosed)) ** 2)) END AS deviation,
       known(wall_total) / nullif(sum(calls), 0) AS exact
FROM figures f
JOIN names n ON n.method = f.method
WHERE n.kind = 'method' AND (getvariable('pattern') IS NULL OR contains(n.name, getvariable('pattern')))
GROUP BY n.name
ORDER BY total DESC, calls DESC, function
LIMIT getvariable('top');
