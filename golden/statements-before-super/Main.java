public class Main {
    static class Parent {
        final int n;

        Parent(int n) {
            if (n > 100) {
                throw new IllegalStateException();
            }
            this.n = n;
        }
    }

    static class Child extends Parent {
        final String text;

        Child(String text) {
            int parsed;
            try {
                parsed = Integer.parseInt(text);
            } catch (NumberFormatException e) {
                parsed = text.length();
            }
            int sum = 0;
            for (int i = 0; i < parsed && i < 2; i++) {
                sum = total(sum, parsed);
            }
            this.text = text;
            super(sum);
            System.out.println(n + this.text);
        }

        static int total(int a, int b) {
            return a + b;
        }
    }

    public static void main(String[] args) {
        for (String text : new String[] {"7", "word", "", "77"}) {
            try {
                new Child(text);
            } catch (IllegalStateException e) {
                System.out.println("too big");
            }
        }
    }
}
