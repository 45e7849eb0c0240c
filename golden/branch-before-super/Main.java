public class Main {
    static class Parent {
        Parent(int n, Object o) {
            System.out.println(n + " " + o);
        }
    }

    static class Child extends Parent {
        Child(boolean yes, String text) {
            super(yes ? 1 : 2, text == null ? new StringBuilder(yes ? "a" : "b") : text + (yes && text.isEmpty()));
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 4; i++) {
            new Child(i % 2 == 0, i < 2 ? null : "text");
        }
    }
}
