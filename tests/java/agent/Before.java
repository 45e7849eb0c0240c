/** An agent, the system class loader and the program at once: classes that are loaded before any agent is told that the virtual machine is up. */
public class Before extends ClassLoader {
    static class Loaded {
        static int twice(int number) {
            return 2 * number;
        }
    }

    static class Later {
        static int zero() {
            return 0;
        }
    }

    public Before(ClassLoader parent) {
        super(parent);
        Loaded.twice(0);
    }

    public static void premain(String words) {
        Loaded.twice(0);
    }

    public static void main(String[] words) {
        int sum = Later.zero();
        for (int i = 0; i < 10; i++) {
            sum += Loaded.twice(i);
        }
        System.out.println(sum);
    }
}
