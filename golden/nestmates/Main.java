public class Main {
    private int value = 3;

    private int mine() {
        return value;
    }

    private static final class Inner {
        private final Main outer = new Main();

        private int secret() {
            return outer.value + outer.mine();
        }
    }

    public static void main(String[] args) {
        System.out.println(new Inner().secret());
        System.out.println(new Inner().secret());
        System.out.println(Inner.class.getNestHost() + " " + Main.class.getNestMembers().length);
    }
}
