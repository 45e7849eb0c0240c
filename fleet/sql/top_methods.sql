-- The methods that took most of their own, of each build. Sums over the processes of the build, and for how many of them. Names are looked up
-- at the end, of the few methods that are among the first: a fleet of many builds has many more names than it has methods there.
WITH sums AS (
SELECT build, method, count(DISTINCT process) AS processes, sum(calls) AS calls,
       known(wall) AS wall, error_of(sum(wall_noise), sum(wall_variance)) AS wall_error,
       known_total(wall_total, nested) AS wall_total, known(wall_raw) AS wall_raw,
       known_total(wall_raw_total, nested) AS wall_raw_total
FROM figures
WHERE method IS NOT NULL
  AND method NOT IN (SELECT method FROM methods WHERE kind <> 'method')
  AND (getvariable('pattern') IS NULL
       OR method IN (SELECT method FROM methods WHERE contains(name, getvariable('pattern'))))
GROUP BY build, method
),
likely AS (
SELECT * FROM sums
QUALIFY rank() OVER (PARTITION BY build ORDER BY coalesce(wall, wall_raw, calls) DESC)
    <= coalesce(getvariable('top'), 20)
),
functions AS (
SELECT method, any_value(name) AS function FROM methods
WHERE method IN (SELECT method FROM likely) GROUP BY method
),
rows AS (SELECT build, function, likely.* EXCLUDE (build, method) FROM likely JOIN functions USING (method))
SELECT * FROM rows
QUALIFY row_number() OVER (PARTITION BY build ORDER BY coalesce(wall, wall_raw, calls) DESC, function)
    <= coalesce(getvariable('top'), 20)
ORDER BY build, coalesce(wall, wall_raw, calls) DESC, function;
