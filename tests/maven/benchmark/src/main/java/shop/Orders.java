package shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@Fork(1)
@Threads(2)
@Warmup(iterations = 1, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class Orders {
    static final class Item {
        final int number;

        Item(int number) {
            this.number = number;
        }

        int price() {
            return number * 2;
        }
    }

    @Benchmark
    public int total() {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            items.add(new Item(i));
        }
        int total = 0;
        for (Item item : items) {
            total += item.price();
        }
        return total;
    }
}
