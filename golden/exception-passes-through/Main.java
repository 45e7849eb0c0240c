public class Main {
    static int callee(int n) {
        if (n % 2 == 0) {
            throw new IllegalStateException();
        }
        return n;
    }

    static int through(int n) {
        return callee(n) + 1;
    }

    public static void main(String[] args) {
        int caught = 0;
        for (int i = 0; i < 1000; i++) {
            try {
                through(i);
            } catch (IllegalStateException e) {
                caught++;
            }
        }
        System.out.println(caught);
    }
}
