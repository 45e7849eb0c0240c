import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Keeps the collections of the JDK busy, from several threads. */
public class Collections {
    public static void main(String[] args) throws Exception {
        Map<String, List<Integer>> lists = new TreeMap<String, List<Integer>>();
        for (int i = 0; i < 20000; i++) {
            lists.computeIfAbsent("k" + i % 7, key -> new ArrayList<Integer>()).add(i);
        }
        long sum = lists.values().stream().flatMap(List::stream).mapToLong(Integer::longValue).sum();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Integer>> sizes = new ArrayList<Future<Integer>>();
        for (int i = 0; i < 50; i++) {
            int size = i * 10;
            sizes.add(pool.submit(() -> {
                Map<Integer, Integer> map = new HashMap<Integer, Integer>();
                for (int k = 0; k < size; k++) {
                    map.put(k, k);
                }
                return map.size();
            }));
        }
        for (Future<Integer> size : sizes) {
            sum += size.get();
        }
        pool.shutdown();
        System.out.println(String.format("%d %s", sum, lists.keySet()));
    }
}
