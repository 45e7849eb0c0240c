-- Why a consumer consumes: its callers, itself, what it calls. As `instrument xarc`; `pattern` chooses the consumers.
-- A total over a caller is of calls that are not within another one of the same callee. A total over a callee is without what its caller
-- consumed once more, further down (contexts.through), so that it is the caller's total less its own part.
CREATE OR REPLACE TEMP TABLE arcs AS
SELECT caller, caller_kind, function, kind, sum(calls) AS calls,
       known(wall) AS wall, known_total(wall_total, nested) AS parent_wall, known(wall_total) AS child_wall,
       known(wall_raw) AS wall_raw, known_total(wall_raw_total, nested) AS parent_wall_raw,
       known(wall_raw_total) AS child_wall_raw,
       known(allocations) AS allocations, known_total(allocations_total, nested) AS parent_allocations,
       known(allocations_total) AS child_allocations
FROM called GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE again AS
SELECT n.name AS caller, n.kind AS caller_kind, tn.name AS function, tn.kind AS kind,
       known(f.wall_total) AS wall, known(f.wall_raw_total) AS wall_raw, known(f.allocations_total) AS allocations
FROM figures f
JOIN contexts c ON c.context = f.context
JOIN names n ON n.method = f.method
JOIN contexts t ON t.context = c.through
JOIN names tn ON tn.method = t.method
WHERE f.nested
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE stanzas AS
SELECT function AS of, kind AS of_kind, 0 AS part, 'parent' AS role, caller AS other, caller_kind AS other_kind, calls,
       wall, parent_wall AS wall_total, wall_raw, parent_wall_raw AS wall_raw_total, allocations,
       parent_allocations AS allocations_total
FROM arcs
UNION ALL
SELECT function, kind, 1, 'self', function, kind, sum(calls), sum(wall), sum(parent_wall), sum(wall_raw),
       sum(parent_wall_raw), sum(allocations), sum(parent_allocations)
FROM arcs GROUP BY function, kind
UNION ALL
SELECT a.caller, a.caller_kind, 2, 'child', a.function, a.kind, a.calls, a.wall,
       a.child_wall - coalesce(g.wall, 0), a.wall_raw, a.child_wall_raw - coalesce(g.wall_raw, 0), a.allocations,
       a.child_allocations - coalesce(g.allocations, 0)
FROM arcs a
LEFT JOIN again g
  ON g.caller = a.caller AND g.caller_kind = a.caller_kind AND g.function = a.function AND g.kind = a.kind
WHERE a.caller_kind <> 'root';

SELECT s.of, s.of_kind, s.role, s.other, s.other_kind, s.calls, s.wall, s.wall_total, s.wall_raw, s.wall_raw_total,
       s.allocations, s.allocations_total
FROM stanzas s
JOIN (SELECT of, of_kind, coalesce(wall_total, wall_raw_total, calls) AS weight FROM stanzas WHERE role = 'self') o
  USING (of, of_kind)
WHERE getvariable('pattern') IS NULL OR contains(s.of, getvariable('pattern'))
ORDER BY o.weight DESC, s.of, s.of_kind, s.part, coalesce(s.wall_total, s.wall_raw_total, s.calls) DESC, s.other
LIMIT getvariable('top');
