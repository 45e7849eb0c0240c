import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/** Defines a hidden class of itself; Java 15 and later. */
public class Hidden {
    public static class Body implements Runnable {
        @Override
        public void run() {
            System.out.println(getClass().isHidden());
        }
    }

    public static void main(String[] args) throws Exception {
        try (InputStream in = Hidden.class.getResourceAsStream("Hidden$Body.class")) {
            Class<?> hidden = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true).lookupClass();
            ((Runnable) hidden.getDeclaredConstructor().newInstance()).run();
        }
        new Body().run();
    }
}
