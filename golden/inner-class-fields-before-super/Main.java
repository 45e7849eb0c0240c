public class Main {
    abstract static class Base {
        Base() {
            show();
        }

        abstract void show();
    }

    class Inner {
        int twice = 2 * field;
    }

    int field = 21;

    void run(int n, String text) {
        new Base() {
            @Override
            void show() {
                System.out.println(text + n + field + new Inner().twice);
            }
        };
    }

    public static void main(String[] args) {
        Main main = new Main();
        for (int i = 0; i < 3; i++) {
            main.run(i, "text");
        }
    }
}
