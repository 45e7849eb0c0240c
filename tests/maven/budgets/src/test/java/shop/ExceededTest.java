package shop;

import io.github.instrument.junit.MaxAllocations;
import io.github.instrument.junit.MaxBytecodes;
import io.github.instrument.junit.MaxCalls;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each of these fails where it is recorded, and none where it is not. */
class ExceededTest {
    private static final CyclicBarrier TOGETHER = new CyclicBarrier(2);

    @Test
    @MaxCalls(method = "**.Connection#prepareStatement", value = 1)
    void rows() {
        new OrderService().total(50);
    }

    @Test
    @MaxAllocations(20)
    void objects() {
        new OrderService().list(50);
    }

    /** The same calls as with fewer rows, but a longer loop. */
    @Test
    @MaxBytecodes(method = "**.OrderService#list", value = 500)
    void instructions() {
        new OrderService().list(50);
    }

    /** What a pool does for the test is the test's. */
    @Test
    @MaxCalls(method = "**.Connection#prepareStatement", value = 10)
    void pool() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 20; i++) {
            Callable<Integer> task = () -> new OrderService().list(1).size();
            pool.submit(task).get();
        }
        pool.shutdown();
    }

    /** One of two at the same time. */
    @ParameterizedTest
    @ValueSource(ints = {2, 7})
    @Execution(ExecutionMode.CONCURRENT)
    @MaxCalls(method = "**.Connection#prepareStatement", value = 3)
    void together(int count) throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        new OrderService().total(count);
        TOGETHER.await(60, TimeUnit.SECONDS);
    }

    @Test
    @MaxCalls(method = "**.Connection#prepareStatment", value = 1)
    void misspelt() {
        new OrderService().list(1);
    }
}
