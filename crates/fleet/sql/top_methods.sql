-- The methods that took most of their own, of each build. Sums over the processes of the build, and for how many of them. Names are looked up
-- at the end, of the few methods that are among the first: a fleet of many builds has many more names than it has methods there.
CREATE OR REPLACE TEMP TABLE wanted AS
SELECT method, any_value(name) AS function
FROM methods
WHERE getvariable('pattern') IS NOT NULL AND kind = 'method' AND contains(name, getvariable('pattern'))
GROUP BY method;

WITH sums AS (
SELECT build, method, count(*) AS processes, sum(calls) AS calls,
       known(wall) AS wall, error_of(sum(wall_noise), sum(wall_variance)) AS wall_error, known(wall_total) AS wall_total,
       known(wall_raw) AS wall_raw, known(wall_raw_total) AS wall_raw_total
FROM method_sums
WHERE kind = 'method' AND (getvariable('pattern') IS NULL OR method IN (SELECT method FROM wanted))
GROUP BY build, method
),
likely AS (
SELECT * FROM sums
QUALIFY rank() OVER (PARTITION BY build ORDER BY coalesce(wall, wall_raw, calls) DESC)
    <= coalesce(getvariable('top'), 20)
),
functions AS (
SELECT method, function FROM wanted
UNION ALL
SELECT method, any_value(name) AS function FROM methods
WHERE getvariable('pattern') IS NULL AND method IN (SELECT method FROM likely) GROUP BY method
),
rows AS (SELECT build, function, likely.* EXCLUDE (build, method) FROM likely JOIN functions USING (method))
SELECT * FROM rows
QUALIFY row_number() OVER (PARTITION BY build ORDER BY coalesce(wall, wall_raw, calls) DESC, function)
    <= coalesce(getvariable('top'), 20)
ORDER BY build, coalesce(wall, wall_raw, calls) DESC, function;
