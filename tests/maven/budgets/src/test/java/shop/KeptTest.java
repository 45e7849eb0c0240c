package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.instrument.junit.Gate;
import io.github.instrument.junit.MaxAllocations;
import io.github.instrument.junit.MaxBytecodes;
import io.github.instrument.junit.MaxCalls;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeptTest {
    private static final CyclicBarrier TOGETHER = new CyclicBarrier(3);

    @Test
    @MaxCalls(method = "**.Connection#prepareStatement", value = 1)
    @MaxCalls(method = "shop.Never", value = 0)
    @MaxAllocations(53)
    @MaxBytecodes(method = "**.OrderService#list", value = 616)
    void list() {
        // A connection, a list and 50 items, and the service. 11 instructions, 12 for each item, and 5 at the end.
        assertEquals(50, new OrderService().list(50).size());
    }

    @Test
    @Gate("total")
    void total() {
        assertEquals(10 * 12 + 45, new OrderService().total(10));
    }

    /** Three at a time, each at the limit of its own; were they added up, each would be beyond. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    @Execution(ExecutionMode.CONCURRENT)
    @MaxCalls(method = "**.Connection#prepareStatement", value = 4)
    void together(int count) throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        new OrderService().total(3);
        TOGETHER.await(60, TimeUnit.SECONDS);
    }
}
