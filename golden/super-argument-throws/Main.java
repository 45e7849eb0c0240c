public class Main {
    static class Parent {
        final int n;

        Parent(int n) {
            this.n = n;
        }
    }

    static class Child extends Parent {
        Child(int n) {
            super(check(n));
            if (this.n % 3 == 1) {
                throw new IllegalArgumentException();
            }
        }

        static int check(int n) {
            if (n % 3 == 0) {
                throw new IllegalStateException();
            }
            return n;
        }
    }

    public static void main(String[] args) {
        int before = 0;
        int after = 0;
        for (int i = 0; i < 900; i++) {
            try {
                new Child(i);
            } catch (IllegalStateException e) {
                before++;
            } catch (IllegalArgumentException e) {
                after++;
            }
        }
        System.out.println(before + " " + after);
    }
}
