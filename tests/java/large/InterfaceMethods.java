//@release 17
//@calls big 2
//@calls hidden 2
//@calls make 2
final class InterfaceMethods {
    interface Shape {
        default int big(int x) {
            //@fill
            return hidden(x) + make(x);
        }

        private int hidden(int x) {
            //@fill
            return x * 3;
        }

        static int make(int x) {
            //@fill
            return x + 5;
        }
    }

    static void run() {
        Shape shape = new Shape() { };
        Shape other = new Shape() {
            @Override
            public int big(int x) {
                return Shape.super.big(x) * 2;
            }
        };
        System.out.println(shape.big(1) + " " + other.big(2));
    }
}
