import java.io.IOException;

public class Main {
    static void raise(int n) throws Exception {
        switch (n) {
            case 1:
                throw new IOException("io");
            case 2:
                throw new IllegalStateException("state");
            case 3:
                throw new IllegalArgumentException("argument");
            case 4:
                throw new Exception("plain");
            case 5:
                throw new Error("error");
            default:
        }
    }

    static String work(int n) {
        StringBuilder log = new StringBuilder();
        try {
            try {
                raise(n);
                return "fine";
            } catch (IllegalStateException | IllegalArgumentException e) {
                log.append(e.getMessage()).append(' ');
                throw e;
            } finally {
                log.append("finally ");
            }
        } catch (IOException e) {
            return log + "first";
        } catch (RuntimeException e) {
            return log + "second";
        } catch (Exception e) {
            return log + "third";
        }
    }

    public static void main(String[] args) {
        for (int n = 0; n < 6; n++) {
            try {
                System.out.println(work(n));
            } catch (Error e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
