-- How the calls of each method ended, and whether every call is accounted for. As `instrument report --counts`.
SELECT n.name AS function, sum(calls) AS calls, sum(exits) AS exits, sum(unwinds) AS unwinds, sum(aborted) AS aborted,
       sum(unclosed) AS unclosed, sum(unmatched) AS unmatched, sum(open) AS open,
       sum(calls) = sum(exits) + sum(unwinds) + sum(aborted) + sum(unclosed) + sum(open) AS balances
FROM method_sums f
JOIN names n ON n.method = f.method
WHERE n.kind = 'method' AND (getvariable('pattern') IS NULL OR contains(n.name, getvariable('pattern')))
GROUP BY n.name
ORDER BY balances, calls DESC, function
LIMIT getvariable('top');
