-- The tables of a dataset as views, and what they have in common. Needs DuckDB 1.2 or later. Run this first, after
--   SET VARIABLE dataset = 'DIR';
-- These, set before, choose what is in the views; what is not set chooses nothing:
--   SET VARIABLE service = 'shop';  SET VARIABLE build = '1.2';
--   SET VARIABLE since = DATE '2026-11-01';  SET VARIABLE until = DATE '2026-11-30';   (days, both included)
-- The columns are documented in the book, in the chapter "Fleets".

-- A table, with the columns of its partitions.
CREATE OR REPLACE TEMP MACRO rows_of(name) AS TABLE
SELECT *
FROM read_parquet(
    getvariable('dataset') || '/' || name || '/**/*.parquet', union_by_name = true, hive_partitioning = true,
    hive_types = {'service': VARCHAR, 'build': VARCHAR, 'day': DATE});

-- Whether a partition is chosen; a day that is NULL is.
CREATE OR REPLACE TEMP MACRO is_chosen(of_service, of_build, of_day) AS
        (getvariable('service') IS NULL OR of_service = getvariable('service'))
    AND (getvariable('build') IS NULL OR of_build = getvariable('build'))
    AND (getvariable('since') IS NULL OR of_day IS NULL OR of_day >= getvariable('since'))
    AND (getvariable('until') IS NULL OR of_day IS NULL OR of_day <= getvariable('until'));

-- Each process once: of several exports of it, as of a live one, the fullest. A table, so that the files are read once.
CREATE OR REPLACE TEMP TABLE processes AS
SELECT *
FROM rows_of('processes')
WHERE is_chosen(service, build, day)
QUALIFY row_number() OVER (PARTITION BY process ORDER BY calls DESC, batch) = 1;

-- An answer about no process at all would look like good news.
SET VARIABLE checked = (
    SELECT CASE
        WHEN count(*) = 0
        THEN error('no process of the dataset fits service, build, since and until together: leave one of them out')
        WHEN getvariable('before') IS NOT NULL AND count(*) FILTER (build = getvariable('before')) = 0
        THEN error('no process of the dataset is of the build before: ' || getvariable('before'))
        WHEN getvariable('after') IS NOT NULL AND count(*) FILTER (build = getvariable('after')) = 0
        THEN error('no process of the dataset is of the build after: ' || getvariable('after'))
    END FROM processes);

CREATE OR REPLACE TEMP VIEW figures AS
SELECT *
FROM rows_of('values')
WHERE is_chosen(service, build, day)
  AND (process, batch) IN (SELECT (process, batch) FROM processes);

CREATE OR REPLACE TEMP VIEW methods AS
SELECT *
FROM rows_of('methods')
WHERE is_chosen(service, build, day)
  AND batch IN (SELECT batch FROM processes);

CREATE OR REPLACE TEMP VIEW contexts AS
SELECT context, any_value(stable) AS stable, any_value(parent) AS parent, any_value(through) AS through,
       any_value(method) AS method, any_value(depth) AS depth
FROM rows_of('contexts')
WHERE is_chosen(service, build, NULL)
GROUP BY context;

CREATE OR REPLACE TEMP VIEW allocations AS
SELECT *
FROM rows_of('allocations')
WHERE (process, batch) IN (SELECT (process, batch) FROM processes);

CREATE OR REPLACE TEMP VIEW monitors AS
SELECT *
FROM rows_of('monitors')
WHERE (process, batch) IN (SELECT (process, batch) FROM processes);

-- A remote call belongs to the process that made it, or to the one that served it if only that is known.
CREATE OR REPLACE TEMP VIEW remote_calls AS
SELECT *
FROM rows_of('remote_calls')
WHERE (coalesce(client, server), batch) IN (SELECT (process, batch) FROM processes);

CREATE OR REPLACE TEMP VIEW unmatched AS
SELECT *
FROM rows_of('unmatched')
WHERE (process, batch) IN (SELECT (process, batch) FROM processes);

-- A name for each key.
CREATE OR REPLACE TEMP VIEW names AS
SELECT method, any_value(name) AS name, any_value(stable_name) AS stable_name, any_value(kind) AS kind,
       any_value(class) AS class, any_value(file) AS file, any_value(line) AS line
FROM methods GROUP BY method;

-- The name of a process in reports.
CREATE OR REPLACE TEMP MACRO process_name(program, pid) AS program || ' (pid ' || pid || ')';

-- A sum, where every row has a figure. Of processes of which only some have one (the cost of recording is not known everywhere) there is no
-- sum: wall_raw is the one that all have.
CREATE OR REPLACE TEMP MACRO known(figure) AS CASE WHEN count(figure) = count(*) THEN sum(figure) END;

-- The same of totals: what is nested is part of the total of a row above.
CREATE OR REPLACE TEMP MACRO known_total(figure, is_nested) AS
    CASE WHEN count(figure) = count(*) THEN sum(CASE WHEN is_nested THEN 0 ELSE figure END) END;

-- What a sum may be off by: what is not known of the cost of recording adds up, and so do variances of sampling.
CREATE OR REPLACE TEMP MACRO error_of(noise, variance) AS
    CASE WHEN noise IS NOT NULL OR variance IS NOT NULL
         THEN coalesce(noise, 0) + sqrt(greatest(coalesce(variance, 0), 0)) END;

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
