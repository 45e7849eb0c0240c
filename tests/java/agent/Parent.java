import java.io.File;

/** Starts itself once more. */
public class Parent {
    static void work() {}

    public static void main(String[] words) throws Exception {
        work();
        if (words.length == 0) {
            String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
            String path = System.getProperty("java.class.path");
            Process child = new ProcessBuilder(java, "-cp", path, "Parent", "child").inheritIO().start();
            System.exit(child.waitFor());
        }
    }
}
