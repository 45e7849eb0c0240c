-- The other tables. Needs dataset.sql.

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
