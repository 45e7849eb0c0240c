package boot;

public class Main {
    static int twice(int n) {
        return n * 2;
    }

    public static void main(String[] args) {
        System.out.println("twice " + twice(21));
    }
}
