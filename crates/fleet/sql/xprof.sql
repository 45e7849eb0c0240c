-- A flat profile: every method, thread and process with its calls, what it took itself, and all that it drove. As `instrument xprof`.
-- Where another event than CPU time was sampled, `sampled` is the number of these; of several events there is none.
WITH keyed AS (
SELECT kind, method, thread, CASE WHEN kind = 'process' THEN process END AS process, sum(calls) AS calls,
       sum(contexts) AS contexts, sum(unwinds + aborted + unclosed) AS unwinds,
       sum(wall_noise) AS wall_noise, sum(wall_variance) AS wall_variance,
       known(wall_noise_total) AS wall_noise_total, known(wall_variance_total) AS wall_variance_total,
       known(wall) AS wall, known(wall_total) AS wall_total, known(wall_raw) AS wall_raw,
       known(wall_raw_total) AS wall_raw_total, known(running) AS running, known(running_total) AS running_total,
       known(waiting) AS waiting, known(waiting_total) AS waiting_total, known(cpu) AS cpu, known(cpu_total) AS cpu_total,
       known(allocations) AS allocations, known(allocations_total) AS allocations_total,
       known(bytes) AS bytes, known(bytes_total) AS bytes_total,
       known(bytecodes) AS bytecodes, known(bytecodes_total) AS bytecodes_total,
       same(event) AS event, known_of(sampled, event) AS sampled, known_of(sampled_total, event) AS sampled_total
FROM method_sums
JOIN (SELECT process, event FROM processes) USING (process)
WHERE getvariable('pattern') IS NULL OR method IS NULL
   OR method IN (SELECT method FROM methods WHERE contains(name, getvariable('pattern')))
GROUP BY ALL
),
-- A key of a method has one name; several processes may be called the same.
named AS (
SELECT coalesce(n.name, k.thread, process_name(p.program, p.pid)) AS function, k.* EXCLUDE (process)
FROM keyed k
LEFT JOIN names n ON n.method = k.method
LEFT JOIN processes p ON p.process = k.process
),
rows AS (
SELECT function, kind, sum(calls) AS calls, sum(contexts) AS contexts,
       known(wall) AS wall, known(wall_total) AS wall_total,
       error_of(sum(wall_noise), sum(wall_variance)) AS wall_error,
       error_of(known(wall_noise_total), known(wall_variance_total)) AS wall_total_error,
       known(wall_raw) AS wall_raw, known(wall_raw_total) AS wall_raw_total,
       known(running) AS running, known(running_total) AS running_total,
       known(waiting) AS waiting, known(waiting_total) AS waiting_total,
       known(cpu) AS cpu, known(cpu_total) AS cpu_total,
       known(allocations) AS allocations, known(allocations_total) AS allocations_total,
       known(bytes) AS bytes, known(bytes_total) AS bytes_total,
       known(bytecodes) AS bytecodes, known(bytecodes_total) AS bytecodes_total,
       sum(unwinds) AS unwinds,
       same(event) AS event, known_of(sampled, event) AS sampled, known_of(sampled_total, event) AS sampled_total
FROM named
WHERE getvariable('pattern') IS NULL OR contains(function, getvariable('pattern'))
GROUP BY function, kind
)
SELECT * FROM rows
ORDER BY coalesce(wall, wall_raw, running, sampled, calls) DESC,
         coalesce(wall_total, wall_raw_total, running_total, sampled_total, 0) DESC, function
LIMIT getvariable('top');
