public class Main {
    static class Base {
        Base(int n) {
            if (n == 0) {
                throw new IllegalStateException();
            }
        }
    }

    static class Tree extends Base {
        final Tree child;

        Tree(int n) {
            super(n);
            child = new Tree(n - 1);
        }
    }

    public static void main(String[] args) {
        int failed = 0;
        for (int i = 0; i < 10; i++) {
            try {
                new Tree(5);
            } catch (IllegalStateException e) {
                failed++;
            }
        }
        System.out.println(failed);
    }
}
