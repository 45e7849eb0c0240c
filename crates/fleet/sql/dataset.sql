-- The tables of a dataset as views, and what they have in common. Needs DuckDB 1.2 or later. Run this first, after
--   SET VARIABLE dataset = 'DIR';
-- These, set before, choose what is in the views; what is not set chooses nothing:
--   SET VARIABLE service = 'shop';  SET VARIABLE build = '1.2';
--   SET VARIABLE since = DATE '2026-11-01';  SET VARIABLE until = DATE '2026-11-30';   (days, both included)
-- The columns are documented in the book, in the chapter "Fleets". Views of contexts are in contexts.sql, of the other tables in tables.sql.

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
FROM (
    SELECT * FROM rows_of('processes')
    UNION ALL BY NAME
    -- Exports before version 3 of the schema know of no events.
    SELECT NULL::VARCHAR AS event, NULL::VARCHAR AS event_unit WHERE false
)
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

CREATE OR REPLACE TEMP VIEW methods AS
SELECT *
FROM rows_of('methods')
WHERE is_chosen(service, build, day)
  AND batch IN (SELECT batch FROM processes);

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

-- What all rows have; of different values, or where one has none, there is none.
CREATE OR REPLACE TEMP MACRO same(value) AS
    CASE WHEN count(value) = count(*) AND count(DISTINCT value) = 1 THEN any_value(value) END;

-- A sum of events that were sampled, where all rows are of the same event.
CREATE OR REPLACE TEMP MACRO known_of(figure, event) AS CASE WHEN same(event) IS NOT NULL THEN known(figure) END;

-- What a sum may be off by: what is not known of the cost of recording adds up, and so do variances of sampling.
CREATE OR REPLACE TEMP MACRO error_of(noise, variance) AS
    CASE WHEN noise IS NOT NULL OR variance IS NOT NULL
         THEN coalesce(noise, 0) + sqrt(greatest(coalesce(variance, 0), 0)) END;

-- Sums over the contexts of each method of each process, and the rows of threads and processes: the table method_values. Exports of version 1
-- of the schema and merges of Spark have no such table: of these they are added up here. A file is called as its export, and every export
-- with sums has a file of them.
SET VARIABLE files_of_sums = (
    SELECT coalesce(list(file ORDER BY file), []::VARCHAR[])
    FROM glob(getvariable('dataset') || '/method_values/**/*.parquet'));
SET VARIABLE files_of_values = (
    SELECT list(file ORDER BY file) FROM glob(getvariable('dataset') || '/values/**/*.parquet'));
SET VARIABLE files_without_sums = (
    SELECT coalesce(list(file ORDER BY file), []::VARCHAR[])
    FROM (SELECT unnest(getvariable('files_of_values')) AS file)
    WHERE parse_filename(file) NOT IN (SELECT parse_filename(unnest(getvariable('files_of_sums')))));

-- The rows of files; of none there is nothing, but the columns are those of the first file of values.
CREATE OR REPLACE TEMP MACRO rows_of_files(files) AS TABLE
SELECT *
FROM (
    SELECT *
    FROM read_parquet(
        CASE WHEN len(files) > 0 THEN files ELSE getvariable('files_of_values')[:1] END, union_by_name = true,
        hive_partitioning = true, hive_types = {'service': VARCHAR, 'build': VARCHAR, 'day': DATE})
    UNION ALL BY NAME
    SELECT NULL::BIGINT AS sampled, NULL::BIGINT AS sampled_total WHERE false
)
WHERE len(files) > 0 AND is_chosen(service, build, day);

CREATE OR REPLACE TEMP VIEW method_sums AS
SELECT * FROM (
    SELECT * FROM rows_of_files(getvariable('files_of_sums'))
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS kind, NULL::BIGINT AS contexts WHERE false
)
WHERE (process, batch) IN (SELECT (process, batch) FROM processes)
UNION ALL BY NAME
SELECT f.service, f.build, f.day, f.batch, f.process, f.method, CASE WHEN f.method IS NULL THEN f.thread END AS thread,
       coalesce(any_value(m.kind), CASE WHEN any_value(f.thread) IS NULL THEN 'process' ELSE 'thread' END) AS kind,
       count(*) AS contexts, sum(calls)::BIGINT AS calls, sum(exits)::BIGINT AS exits, sum(unwinds)::BIGINT AS unwinds,
       sum(aborted)::BIGINT AS aborted, sum(unclosed)::BIGINT AS unclosed, sum(unmatched)::BIGINT AS unmatched,
       sum(open)::BIGINT AS open,
       known(wall)::BIGINT AS wall, known_total(wall_total, nested)::BIGINT AS wall_total,
       known(wall_raw)::BIGINT AS wall_raw, known_total(wall_raw_total, nested)::BIGINT AS wall_raw_total,
       known(running)::BIGINT AS running, known_total(running_total, nested)::BIGINT AS running_total,
       known(waiting)::BIGINT AS waiting, known_total(waiting_total, nested)::BIGINT AS waiting_total,
       known(running_raw)::BIGINT AS running_raw, known_total(running_raw_total, nested)::BIGINT AS running_raw_total,
       known(waiting_raw)::BIGINT AS waiting_raw, known_total(waiting_raw_total, nested)::BIGINT AS waiting_raw_total,
       known(wall_noise)::DOUBLE AS wall_noise, known_total(wall_noise_total, nested)::DOUBLE AS wall_noise_total,
       known(wall_variance)::DOUBLE AS wall_variance,
       known_total(wall_variance_total, nested)::DOUBLE AS wall_variance_total, known(cpu)::BIGINT AS cpu,
       known_total(cpu_total, nested)::BIGINT AS cpu_total, known(cpu_noise)::DOUBLE AS cpu_noise,
       known_total(cpu_noise_total, nested)::DOUBLE AS cpu_noise_total, known(cpu_raw)::BIGINT AS cpu_raw,
       known_total(cpu_raw_total, nested)::BIGINT AS cpu_raw_total, known(allocations)::BIGINT AS allocations,
       known_total(allocations_total, nested)::BIGINT AS allocations_total, known(bytes)::BIGINT AS bytes,
       known_total(bytes_total, nested)::BIGINT AS bytes_total, known(bytecodes)::BIGINT AS bytecodes,
       known_total(bytecodes_total, nested)::BIGINT AS bytecodes_total, known(live)::BIGINT AS live,
       known_total(live_total, nested)::BIGINT AS live_total, known(live_bytes)::BIGINT AS live_bytes,
       known_total(live_bytes_total, nested)::BIGINT AS live_bytes_total, known(contended)::BIGINT AS contended,
       known_total(contended_total, nested)::BIGINT AS contended_total, known(object_wait)::BIGINT AS object_wait,
       known_total(object_wait_total, nested)::BIGINT AS object_wait_total,
       known(sampled)::BIGINT AS sampled, known_total(sampled_total, nested)::BIGINT AS sampled_total
FROM rows_of_files(getvariable('files_without_sums')) f
LEFT JOIN names m ON m.method = f.method
WHERE (f.process, f.batch) IN (SELECT (process, batch) FROM processes)
GROUP BY ALL;
