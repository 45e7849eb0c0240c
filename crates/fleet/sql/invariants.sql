-- What must hold between the figures: a row for each equation that does not. Sums of callers and callees against the method itself, as
-- `instrument report` checks them, and the totals of contexts against their parts. Run xarc.sql first.
WITH own AS (SELECT * FROM stanzas WHERE role = 'self'),
parents AS (
    SELECT of, of_kind, sum(calls) AS calls, sum(wall_raw) AS wall_raw, sum(wall_raw_total) AS wall_raw_total
    FROM stanzas WHERE role = 'parent' GROUP BY of, of_kind),
children AS (
    SELECT of, of_kind, sum(wall_raw_total) AS wall_raw_total FROM stanzas WHERE role = 'child' GROUP BY of, of_kind)
SELECT 'Sum(parent(calls)) = self(calls)' AS equation, of, own.calls AS expected, parents.calls AS found
FROM own JOIN parents USING (of, of_kind) WHERE own.calls <> parents.calls
UNION ALL
SELECT 'Sum(parent(base)) = self(base)', of, own.wall_raw, parents.wall_raw
FROM own JOIN parents USING (of, of_kind) WHERE own.wall_raw <> parents.wall_raw
UNION ALL
SELECT 'Sum(parent(cum)) = self(cum)', of, own.wall_raw_total, parents.wall_raw_total
FROM own JOIN parents USING (of, of_kind) WHERE own.wall_raw_total <> parents.wall_raw_total
UNION ALL
SELECT 'Sum(child(cum)) = self(cum) - self(base)', of, own.wall_raw_total - own.wall_raw, coalesce(children.wall_raw_total, 0)
FROM own LEFT JOIN children USING (of, of_kind)
WHERE own.wall_raw_total - own.wall_raw <> coalesce(children.wall_raw_total, 0)
UNION ALL
SELECT 'calls = exits + unwinds + aborted + unclosed + open, as the recorder checked them', process_name(program, pid),
       calls, exits + unwinds + aborted + unclosed + open
FROM processes WHERE NOT balances;
