-- How long calls took, by the clock, of the methods whose durations were kept (`--latency`): percentiles of all calls of all processes that are
-- chosen. Histograms add up bucket by bucket, so no percentile is averaged. `instrument latency` prints the same
-- percentiles of the profiles.
SET VARIABLE checked = (
    SELECT CASE WHEN count(*) = 0
        THEN error('the dataset has no table of durations: exports before version 4 of the schema, and merges of Spark, write none. Export the profiles again')
    END FROM glob(getvariable('dataset') || '/durations/**/*.parquet'));

CREATE OR REPLACE TEMP TABLE durations AS
SELECT method, bucket, process, sum(calls) AS calls, sum(CASE WHEN failed THEN calls ELSE 0 END) AS errors,
       min(min_ns) AS min_ns, max(max_ns) AS max_ns
FROM rows_of('durations')
WHERE (process, batch) IN (SELECT (process, batch) FROM processes)
GROUP BY method, bucket, process;
SET VARIABLE checked = (
    SELECT CASE WHEN count(*) = 0
        THEN error('no process that is chosen has durations of calls: record with --latency')
    END FROM durations);

-- The bucket in which a share of the calls ends, by nearest rank; the middle of it is off by 0.55 % at most. A share that would need more calls
-- than there are has none.
CREATE OR REPLACE TEMP MACRO percentile(share) AS
    CASE WHEN max(counted) * (1 - share) > 1 - 1e-9
         THEN round(least(max(longest), greatest(min(shortest),
             min(middle) FILTER (below >= greatest(ceil(share * counted - 1e-9), 1)))))::BIGINT END;

WITH ranked AS (
SELECT method, process, errors, calls,
       CASE WHEN bucket IS NULL THEN 0 ELSE pow(2, (bucket + 0.5) / 64) END AS middle,
       sum(calls) OVER (PARTITION BY method ORDER BY bucket NULLS FIRST) AS below,
       sum(calls) OVER (PARTITION BY method) AS counted,
       min(min_ns) OVER (PARTITION BY method) AS shortest, max(max_ns) OVER (PARTITION BY method) AS longest
FROM durations
)
SELECT n.name AS function, sum(r.calls)::BIGINT AS calls, sum(r.errors)::BIGINT AS errors,
       count(DISTINCT r.process) AS processes,
       percentile(0.5) AS p50, percentile(0.9) AS p90, percentile(0.99) AS p99, percentile(0.999) AS "p99.9",
       max(longest) AS max_ns
FROM ranked r JOIN names n ON n.method = r.method
WHERE getvariable('pattern') IS NULL OR contains(n.name, getvariable('pattern'))
GROUP BY n.name
ORDER BY p99 DESC NULLS LAST, max_ns DESC, function
LIMIT getvariable('top');
