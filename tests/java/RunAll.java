import java.lang.reflect.Method;

/** Calls `run()` of each class that is named, one after the other. */
public final class RunAll {
    public static void main(String[] args) throws Exception {
        for (String name : args) {
            System.out.println(name);
            Method run = Class.forName(name).getDeclaredMethod("run");
            run.setAccessible(true);
            run.invoke(null);
        }
    }
}
