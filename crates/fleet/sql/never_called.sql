-- Methods that were there and that nobody called: in how many processes, on how many days, from when to when. A method that is not in the
-- list of any process (its class was not loaded or not rewritten) is not here either. A process that was exported twice, together with others
-- each time, may count twice: so there are at most so many processes.
SELECT m.stable_name AS function, any_value(m.class) AS class, sum(m.known) AS processes_at_most, count(DISTINCT m.day) AS days,
       min(m.day) AS first_day, max(m.day) AS last_day, count(DISTINCT m.build) AS builds
FROM methods m
WHERE m.kind = 'method' AND (getvariable('pattern') IS NULL OR contains(m.name, getvariable('pattern')))
GROUP BY m.stable_name
HAVING sum(m.known) > 0 AND m.stable_name NOT IN (
    SELECT n.stable_name FROM method_sums f JOIN names n ON n.method = f.method WHERE f.calls > 0)
ORDER BY processes_at_most DESC, function
LIMIT getvariable('top');
