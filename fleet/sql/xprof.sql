-- A flat profile: every method, thread and process with its calls, what it took itself, and all that it drove. As `instrument xprof`.
WITH rows AS (
SELECT function, kind, sum(calls) AS calls, count(*) AS contexts,
       known(wall) AS wall, known_total(wall_total, nested) AS wall_total,
       error_of(sum(wall_noise), sum(wall_variance)) AS wall_error,
       error_of(known_total(wall_noise_total, nested), known_total(wall_variance_total, nested)) AS wall_total_error,
       known(wall_raw) AS wall_raw, known_total(wall_raw_total, nested) AS wall_raw_total,
       known(running) AS running, known_total(running_total, nested) AS running_total,
       known(waiting) AS waiting, known_total(waiting_total, nested) AS waiting_total,
       known(cpu) AS cpu, known_total(cpu_total, nested) AS cpu_total,
       known(allocations) AS allocations, known_total(allocations_total, nested) AS allocations_total,
       known(bytes) AS bytes, known_total(bytes_total, nested) AS bytes_total,
       known(bytecodes) AS bytecodes, known_total(bytecodes_total, nested) AS bytecodes_total,
       sum(unwinds + aborted + unclosed) AS unwinds
FROM named
WHERE getvariable('pattern') IS NULL OR contains(function, getvariable('pattern'))
GROUP BY function, kind
)
SELECT * FROM rows
ORDER BY coalesce(wall, wall_raw, calls) DESC, coalesce(wall_total, wall_raw_total, 0) DESC, function
LIMIT getvariable('top');
