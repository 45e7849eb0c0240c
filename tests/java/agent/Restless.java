import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Ends while daemon threads make objects, move references, and load classes. */
public class Restless {
    static class Link {
        volatile Link next;
        Object[] data;
    }

    interface Task {
        void run();
    }

    static volatile Link ring = new Link();
    static final Object[] table = new Object[1000];

    static void allocate() {
        int n = 0;
        for (;;) {
            Link link = new Link();
            link.next = ring;
            link.data = new Object[n % 20];
            if (++n % 100 == 0) {
                link.next = null;
            }
            if (link.data.length > 0) {
                link.data[0] = table[n % table.length];
            }
            ring = link;
            table[n % table.length] = n % 3 == 0 ? link : new long[n % 7];
        }
    }

    static void load() throws Exception {
        URL here = Restless.class.getProtectionDomain().getCodeSource().getLocation();
        ArrayDeque<Object> loaded = new ArrayDeque<>();
        for (;;) {
            URLClassLoader loader = new URLClassLoader(new URL[] {here}, null);
            Class<?> task = loader.loadClass("Restless$Task");
            loaded.add(Proxy.newProxyInstance(loader, new Class<?>[] {task}, (proxy, method, args) -> null));
            if (loaded.size() > 50) {
                loaded.remove();
            }
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            boolean loads = i == 2;
            Thread thread = new Thread(() -> {
                try {
                    if (loads) {
                        load();
                    } else {
                        allocate();
                    }
                } catch (Throwable e) {
                    e.printStackTrace();
                }
            });
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        Thread.sleep(500);
        System.out.println("done");
    }
}
