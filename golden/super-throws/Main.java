public class Main {
    static class Parent {
        Parent(int n) {
            if (n % 2 == 0) {
                throw new IllegalStateException();
            }
        }
    }

    static class Child extends Parent {
        Child(int n) {
            super(check(n));
        }

        static int check(int n) {
            return n;
        }
    }

    public static void main(String[] args) {
        int failed = 0;
        for (int i = 0; i < 1000; i++) {
            try {
                new Child(i);
            } catch (IllegalStateException e) {
                failed++;
            }
        }
        System.out.println(failed);
    }
}
