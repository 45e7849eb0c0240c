-- Methods that one call of their caller calls more often in the build `after` than in `before`, as a query in a loop is: calls of the callee
-- for each call of the caller. Growth from 2 on; the callee that costs most first.
WITH calls AS (
    SELECT f.build = getvariable('after') AS is_after, c.context, c.parent, sum(f.calls) AS calls,
           sum(coalesce(f.wall_total, f.wall_raw_total)) AS total
    FROM figures f JOIN contexts c ON c.context = f.context
    WHERE f.build IN (getvariable('before'), getvariable('after'))
    GROUP BY ALL
),
pairs AS (
    SELECT callee.is_after, pn.stable_name AS caller, n.stable_name AS function, sum(callee.calls) AS calls,
           sum(caller.calls) AS caller_calls, sum(callee.total) AS total
    FROM calls callee
    JOIN calls caller ON caller.context = callee.parent AND caller.is_after = callee.is_after
    JOIN contexts c ON c.context = callee.context
    JOIN contexts pc ON pc.context = caller.context
    JOIN names n ON n.method = c.method
    JOIN names pn ON pn.method = pc.method
    GROUP BY ALL
)
SELECT b.caller, b.function, b.calls / b.caller_calls AS before, a.calls / a.caller_calls AS after,
       (a.calls / a.caller_calls) / nullif(b.calls / b.caller_calls, 0) AS growth, a.calls AS calls_after, a.total AS total_after
FROM pairs b
JOIN pairs a ON a.caller = b.caller AND a.function = b.function AND a.is_after AND NOT b.is_after
WHERE b.calls > 0 AND b.caller_calls > 0 AND a.caller_calls > 0 AND growth >= 2
ORDER BY total_after DESC, growth DESC, b.function, b.caller
LIMIT getvariable('top');
