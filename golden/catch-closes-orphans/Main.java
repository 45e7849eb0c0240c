public class Main {
    static class Parent {
        Parent() {
            throw new IllegalStateException();
        }
    }

    static class Child extends Parent {}

    static void finish() {
        System.exit(7);
    }

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            try {
                new Child();
            } catch (IllegalStateException e) {
                System.out.println("caught");
            }
        }
        finish();
    }
}
