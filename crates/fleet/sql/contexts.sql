-- The contexts and their figures, for questions that method_sums does not answer. Needs dataset.sql. A view opens all files when it is
-- made, so those are in files of their own that not every question needs.

CREATE OR REPLACE TEMP VIEW figures AS
SELECT *
FROM (
    SELECT * FROM rows_of('values')
    UNION ALL BY NAME
    SELECT NULL::BIGINT AS sampled, NULL::BIGINT AS sampled_total WHERE false
)
WHERE is_chosen(service, build, day)
  AND (process, batch) IN (SELECT (process, batch) FROM processes);

CREATE OR REPLACE TEMP VIEW contexts AS
SELECT context, any_value(stable) AS stable, any_value(parent) AS parent, any_value(through) AS through,
       any_value(method) AS method, any_value(depth) AS depth
FROM rows_of('contexts')
WHERE is_chosen(service, build, NULL)
GROUP BY context;

-- All rows with the names that reports print.
CREATE OR REPLACE TEMP VIEW named AS
SELECT f.*, process_name(p.program, p.pid) AS process_name,
       coalesce(n.name, f.thread, process_name(p.program, p.pid)) AS function,
       coalesce(n.kind, CASE WHEN f.thread IS NULL THEN 'process' ELSE 'thread' END) AS kind
FROM figures f
JOIN processes p ON p.process = f.process AND p.batch = f.batch
LEFT JOIN names n ON n.method = f.method;

-- The same with the names of the callers. The row of a thread is called by its process.
CREATE OR REPLACE TEMP VIEW called AS
SELECT f.*,
       CASE WHEN pn.name IS NOT NULL THEN pn.name
            WHEN f.method IS NOT NULL THEN coalesce(f.thread, f.process_name)
            WHEN f.thread IS NOT NULL THEN f.process_name
            ELSE '(root)' END AS caller,
       CASE WHEN pn.name IS NOT NULL THEN pn.kind
            WHEN f.method IS NOT NULL THEN CASE WHEN f.thread IS NULL THEN 'process' ELSE 'thread' END
            WHEN f.thread IS NOT NULL THEN 'process'
            ELSE 'root' END AS caller_kind
FROM named f
LEFT JOIN contexts c ON c.context = f.context
LEFT JOIN contexts pc ON pc.context = c.parent
LEFT JOIN names pn ON pn.method = pc.method;
