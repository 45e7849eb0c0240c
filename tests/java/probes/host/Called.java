package host;

/** What rules call. */
public class Called extends Base {
    public static void called(String method) {
        System.out.println("  # " + method);
    }
}
