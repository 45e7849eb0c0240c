-- The calling context tree of all threads of all processes together, each caller before its callees, the largest first. As
-- `instrument xtree --collapse threads,processes`. Contexts below `prune` (a part of 1, such as 0.001) of the whole are left out.
CREATE OR REPLACE TEMP TABLE tree_nodes AS
SELECT f.context, c.parent, any_value(n.name) AS function, any_value(n.kind) AS kind, sum(calls) AS calls,
       known(wall) AS wall, known(wall_total) AS wall_total,
       error_of(sum(wall_noise), sum(wall_variance)) AS wall_error,
       error_of(sum(wall_noise_total), sum(wall_variance_total)) AS wall_total_error,
       known(wall_raw) AS wall_raw, known(wall_raw_total) AS wall_raw_total,
       known(cpu) AS cpu, known(cpu_total) AS cpu_total,
       known(allocations) AS allocations, known(allocations_total) AS allocations_total,
       known(bytes) AS bytes, known(bytes_total) AS bytes_total,
       known(running) AS running, known(running_total) AS running_total,
       same(p.event) AS event, known_of(sampled, p.event) AS sampled, known_of(sampled_total, p.event) AS sampled_total,
       coalesce(known(wall_total), known(wall_raw_total), known(running_total), known_of(sampled_total, p.event),
                sum(calls)) AS weight
FROM figures f
JOIN (SELECT process, event FROM processes) p ON p.process = f.process
JOIN contexts c ON c.context = f.context
JOIN names n ON n.method = f.method
GROUP BY f.context, c.parent;

WITH RECURSIVE ranked AS (
    SELECT *, row_number() OVER (PARTITION BY parent ORDER BY weight DESC, function, context) AS place
    FROM tree_nodes
    WHERE weight >= coalesce(getvariable('prune'), 0) * (
        SELECT sum(weight) FROM tree_nodes WHERE parent = from_hex('00000000000000000000000000000000'))
),
tree AS (
    SELECT *, [place] AS way FROM ranked WHERE parent = from_hex('00000000000000000000000000000000')
    UNION ALL
    SELECT r.*, list_append(t.way, r.place) FROM ranked r JOIN tree t ON r.parent = t.context
)
SELECT len(way) AS depth, hex(context) AS context, function, kind, calls, wall, wall_total, wall_error, wall_total_error,
       wall_raw, wall_raw_total, cpu, cpu_total, allocations, allocations_total, bytes, bytes_total,
       running, running_total, event, sampled, sampled_total
FROM tree
ORDER BY way
LIMIT getvariable('top');
