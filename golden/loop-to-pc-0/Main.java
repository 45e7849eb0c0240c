public class Main {
    static int turns;

    static int spin() {
        for (;;) {
            if (++turns % 7 == 0) {
                return turns;
            }
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) {
            System.out.println(spin());
        }
    }
}
