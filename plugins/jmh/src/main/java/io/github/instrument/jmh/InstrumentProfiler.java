package io.github.instrument.jmh;

import instrument.api.Recorder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * A profiler of JMH: exact calls and allocations for each operation of a benchmark. {@code -prof io.github.instrument.jmh.InstrumentProfiler}
 * or {@code ..InstrumentProfiler:include=com.acme.**;top=5}; the options are those of {@link ProfilerOptions}.
 *
 * <p>The JVM of a benchmark is started with the agent. Before and after each iteration that measures, the profile, which is complete at every
 * moment, is copied; what happened between the two is divided by the operations. Times of a benchmark that is recorded are not those of
 * the benchmark: measure them without.
 */
public final class InstrumentProfiler implements ExternalProfiler, InternalProfiler {
    private final ProfilerOptions options;
    private boolean measures;
    /** The profile before the iteration; null: nothing was recorded. */
    private Path before;

    /** With the options in one text, as JMH gives them. */
    public InstrumentProfiler(String line) throws ProfilerException {
        options = new ProfilerOptions(line);
    }

    /** Without options. */
    public InstrumentProfiler() throws ProfilerException {
        this("");
    }

    @Override
    public String getDescription() {
        return "instrument: exact calls and allocations for each operation";
    }

    // ---- in the JVM that starts the benchmark ----

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        try {
            return Collections.singletonList("-agentpath:" + options.agent() + "=" + options.agentOptions());
        } catch (IOException e) {
            throw new IllegalStateException("the agent of " + options.executable + " was not found: " + e.getMessage()
                + "; name the binary with executable=FILE", e);
        }
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {}

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File error) {
        return Collections.emptyList();
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    // ---- in the JVM of the benchmark ----

    @Override
    public void beforeIteration(BenchmarkParams params, IterationParams iteration) {
        measures = iteration.getType() == IterationType.MEASUREMENT;
        before = measures ? copy() : null;
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams params, IterationParams iteration, IterationResult result) {
        if (!measures) {
            return Collections.emptyList();
        }
        Path after = copy();
        try {
            long operations = result.getMetadata().getAllOps();
            if (operations == 0 || after == null) {
                return Collections.emptyList();
            }
            List<String> command = new ArrayList<>(Arrays.asList("--quiet", "xprof", "--csv", after.toString()));
            if (before != null) {
                command.addAll(Arrays.asList("--since", before.toString()));
            }
            Table table = Table.of(options.run(command));
            return results(table, operations);
        } catch (IOException e) {
            throw new IllegalStateException("the profile of the benchmark cannot be read: " + e.getMessage(), e);
        } finally {
            delete(before);
            delete(after);
        }
    }

    private List<Result<?>> results(Table table, long operations) {
        List<Result<?>> results = new ArrayList<>();
        results.add(scalar("calls", table.calls(), operations, "calls/op"));
        if (options.countsAllocations()) {
            results.add(scalar("allocations", table.allocations(), operations, "objects/op"));
            results.add(scalar("allocated", table.bytes(), operations, "B/op"));
        }
        for (Table.Row row : table.rows(options.top)) {
            results.add(scalar("calls:" + row.label, row.calls, operations, "calls/op"));
            if (row.allocations > 0) {
                results.add(scalar("allocations:" + row.label, row.allocations, operations, "objects/op"));
            }
        }
        return results;
    }

    private static ScalarResult scalar(String name, double sum, long operations, String unit) {
        return new ScalarResult("instrument." + name, sum / operations, unit, AggregationPolicy.AVG);
    }

    /** The profile as it is; no thread of the benchmark runs. Null: nothing was recorded yet. */
    private static Path copy() {
        if (!Recorder.isPresent()) {
            throw new IllegalStateException("the benchmark runs without the agent; this profiler needs forks (-f 1 or more)");
        }
        // The file is there once something was recorded.
        File profile = Recorder.profile();
        try {
            Path copy = Files.createTempFile("benchmark", ".iprof");
            if (profile == null) {
                Files.delete(copy);
                return null;
            }
            Files.copy(profile.toPath(), copy, StandardCopyOption.REPLACE_EXISTING);
            return copy;
        } catch (IOException e) {
            throw new IllegalStateException("cannot copy the profile " + profile + ": " + e, e);
        }
    }

    private static void delete(Path file) {
        if (file != null && !file.toFile().delete()) {
            file.toFile().deleteOnExit();
        }
    }
}
