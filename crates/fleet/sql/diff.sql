-- What changed between two builds, by method: `before` and `after` are builds. Names without numbers of compilers, so that builds compare.
-- Figures are those of a mean process. A difference of calls is known if the processes of one build all have more than those of the other.
-- A difference of times is known if it is larger than what both may be off by: `error` is three standard errors of the difference of the
-- means over processes, and what the cost of recording may be off by more in one build than in the other. Where a build has one process
-- only, nobody knows how much processes differ: then no difference of times is known.
WITH runs AS (
    SELECT f.build = getvariable('after') AS is_after, n.stable_name AS function, f.process, sum(f.calls) AS calls,
           known(f.wall) AS wall, sum(f.wall_noise) AS noise, known(f.wall_total) AS wall_total,
           known(f.wall_noise_total) AS noise_total
    FROM method_sums f JOIN names n ON n.method = f.method
    WHERE n.kind = 'method' AND f.build IN (getvariable('before'), getvariable('after'))
    GROUP BY ALL
),
sizes AS (
    SELECT count(*) FILTER (build = getvariable('before')) AS before, count(*) FILTER (build = getvariable('after')) AS after
    FROM processes WHERE build IN (getvariable('before'), getvariable('after'))
),
-- A process that did not call the method is one that called it 0 times.
whole AS (
    SELECT p.build = getvariable('after') AS is_after, m.function, coalesce(r.calls, 0) AS calls,
           CASE WHEN r.process IS NULL THEN 0 ELSE r.wall END AS wall, coalesce(r.noise, 0) AS noise,
           CASE WHEN r.process IS NULL THEN 0 ELSE r.wall_total END AS wall_total, coalesce(r.noise_total, 0) AS noise_total
    FROM processes p
    CROSS JOIN (SELECT DISTINCT function FROM runs) m
    LEFT JOIN runs r ON r.process = p.process AND r.function = m.function
    WHERE p.build IN (getvariable('before'), getvariable('after'))
),
sides AS (
    SELECT function,
           avg(calls) FILTER (NOT is_after) AS calls_before, avg(calls) FILTER (is_after) AS calls_after,
           max(calls) FILTER (NOT is_after) AS most_before, min(calls) FILTER (NOT is_after) AS least_before,
           max(calls) FILTER (is_after) AS most_after, min(calls) FILTER (is_after) AS least_after,
           CASE WHEN count(wall) = count(*) THEN avg(wall) FILTER (NOT is_after) END AS wall_before,
           CASE WHEN count(wall) = count(*) THEN avg(wall) FILTER (is_after) END AS wall_after,
           3 * sqrt(var_samp(wall) FILTER (NOT is_after) / count(*) FILTER (NOT is_after)
                    + var_samp(wall) FILTER (is_after) / count(*) FILTER (is_after))
             + abs(avg(noise) FILTER (is_after) - avg(noise) FILTER (NOT is_after)) AS wall_error,
           CASE WHEN count(wall_total) = count(*) THEN avg(wall_total) FILTER (NOT is_after) END AS total_before,
           CASE WHEN count(wall_total) = count(*) THEN avg(wall_total) FILTER (is_after) END AS total_after,
           3 * sqrt(var_samp(wall_total) FILTER (NOT is_after) / count(*) FILTER (NOT is_after)
                    + var_samp(wall_total) FILTER (is_after) / count(*) FILTER (is_after))
             + abs(avg(noise_total) FILTER (is_after) - avg(noise_total) FILTER (NOT is_after)) AS total_error
    FROM whole GROUP BY function
)
SELECT function, sizes.before AS processes_before, sizes.after AS processes_after, calls_before, calls_after,
       CASE WHEN least_after > most_before THEN 'more' WHEN most_after < least_before THEN 'fewer'
            WHEN most_before = least_before AND most_after = least_after THEN 'same' ELSE 'not known' END AS calls_are,
       wall_before, wall_after, wall_error,
       CASE WHEN wall_error IS NULL OR wall_after IS NULL OR wall_before IS NULL THEN 'not known'
            WHEN wall_after - wall_before > wall_error THEN 'slower'
            WHEN wall_before - wall_after > wall_error THEN 'faster' ELSE 'within error' END AS wall_is,
       total_before, total_after, total_error,
       CASE WHEN total_error IS NULL OR total_after IS NULL OR total_before IS NULL THEN 'not known'
            WHEN total_after - total_before > total_error THEN 'slower'
            WHEN total_before - total_after > total_error THEN 'faster' ELSE 'within error' END AS total_is
FROM sides, sizes
-- Of a build without a process nothing is known.
WHERE sizes.before > 0 AND sizes.after > 0
  AND (getvariable('pattern') IS NULL OR contains(function, getvariable('pattern')))
ORDER BY (wall_is IN ('slower', 'faster')) DESC, (calls_are IN ('more', 'fewer')) DESC,
         abs(coalesce(wall_after - wall_before, 0)) DESC, abs(calls_after - calls_before) DESC, function
LIMIT getvariable('top');
