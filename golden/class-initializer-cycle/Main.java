public class Main {
    static class A {
        static final int VALUE = B.VALUE + 1;
    }

    static class B {
        static final int VALUE = A.VALUE + 1;
    }

    public static void main(String[] args) {
        System.out.println(A.VALUE + " " + B.VALUE);
    }
}
