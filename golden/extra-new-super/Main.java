public class Main {
    static class Parent {
        final int n;

        Parent(int n) {
            this.n = n;
        }
    }

    static class Child extends Parent {
        final Parent other;

        Child(Parent other, int n) {
            super(new Parent(n).n);
            this.other = new Parent(n);
            if (n % 2 == 0) {
                throw new IllegalStateException();
            }
        }

        Child(int n) {
            this(null, n);
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
