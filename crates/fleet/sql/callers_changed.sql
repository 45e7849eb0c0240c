-- Where the callers of a method changed between two builds, `before` and `after`: calls by caller of a mean process, callers that are new
-- and callers that are gone first. Names without numbers of compilers.
WITH calls AS (
    SELECT f.build = getvariable('after') AS is_after, n.stable_name AS function,
           coalesce(pn.stable_name, '(nobody recorded)') AS caller, sum(f.calls) AS calls
    FROM figures f
    JOIN names n ON n.method = f.method
    JOIN contexts c ON c.context = f.context
    LEFT JOIN contexts pc ON pc.context = c.parent
    LEFT JOIN names pn ON pn.method = pc.method
    WHERE n.kind = 'method' AND f.build IN (getvariable('before'), getvariable('after'))
    GROUP BY ALL
),
sizes AS (
    SELECT build = getvariable('after') AS is_after, count(*) AS processes FROM processes
    WHERE build IN (getvariable('before'), getvariable('after')) GROUP BY ALL
),
sides AS (
    SELECT function, caller,
           coalesce(sum(calls / processes) FILTER (NOT is_after), 0) AS calls_before,
           coalesce(sum(calls / processes) FILTER (is_after), 0) AS calls_after
    FROM calls JOIN sizes USING (is_after) GROUP BY function, caller
)
SELECT function, caller,
       CASE WHEN calls_before = 0 THEN 'new' WHEN calls_after = 0 THEN 'gone' ELSE 'changed' END AS caller_is,
       calls_before, calls_after
FROM sides
WHERE calls_before <> calls_after
  -- Of a build without a process nothing is known.
  AND (SELECT count(*) FROM sizes) = 2
  AND (getvariable('pattern') IS NULL OR contains(function, getvariable('pattern')))
ORDER BY caller_is = 'changed', abs(calls_after - calls_before) DESC, function, caller
LIMIT getvariable('top');
