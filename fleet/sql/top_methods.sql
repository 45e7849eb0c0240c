-- The methods that took most of their own, of each build. Sums over the processes of the build, and for how many of them.
WITH rows AS (
SELECT f.build, n.name AS function, count(DISTINCT f.process) AS processes, sum(calls) AS calls,
       known(wall) AS wall, error_of(sum(wall_noise), sum(wall_variance)) AS wall_error,
       known_total(wall_total, nested) AS wall_total, known(wall_raw) AS wall_raw,
       known_total(wall_raw_total, nested) AS wall_raw_total
FROM figures f
JOIN names n ON n.method = f.method
WHERE n.kind = 'method' AND (getvariable('pattern') IS NULL OR contains(n.name, getvariable('pattern')))
GROUP BY f.build, n.name
)
SELECT * FROM rows
QUALIFY row_number() OVER (PARTITION BY build ORDER BY coalesce(wall, wall_raw, calls) DESC, function)
    <= coalesce(getvariable('top'), 20)
ORDER BY build, coalesce(wall, wall_raw, calls) DESC, function;
