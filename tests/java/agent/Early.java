import java.util.HashMap;
import java.util.Map;

/** As the system class loader, a class of the program that is loaded and used before the virtual machine is initialised. */
public class Early extends ClassLoader {
    static final class Kept {
        int[] numbers = new int[2];
    }

    static final class Later {}

    static Object last;

    public Early(ClassLoader parent) {
        super(parent);
        for (int i = Integer.getInteger("early.kept", 1234); i > 0; i--) {
            last = new Kept();
        }
        within(100);
    }

    static int within(int depth) {
        return depth == 0 ? 0 : within(depth - 1) + 1;
    }

    static void after() {
        last = new Later();
    }

    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) {
            after();
        }
        Map<String, Integer> map = new HashMap<String, Integer>();
        for (int i = 0; i < 1000; i++) {
            map.put("key " + i % 100, i);
        }
        System.out.println(map.size() + " " + within(50) + " " + ClassLoader.getSystemClassLoader().getClass().getName());
    }
}
