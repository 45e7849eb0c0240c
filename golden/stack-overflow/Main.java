public class Main {
    static int recurse(int n) {
        return recurse(n + 1) + 1;
    }

    static void attempt() {
        try {
            recurse(0);
            System.out.println("came back");
        } catch (StackOverflowError e) {
            System.out.println("overflow");
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 20; i++) {
            attempt();
        }
    }
}
