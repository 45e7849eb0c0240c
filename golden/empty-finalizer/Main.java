public class Main {
    /** HotSpot does not register objects whose finalizer does nothing, and must not begin to. */
    static class Cheap {
        @Override
        protected void finalize() {
        }

        void finalize(int other) {
        }
    }

    public static void main(String[] args) {
        Cheap cheap = new Cheap();
        cheap.finalize();
        cheap.finalize(1);
        System.out.println("done");
    }
}
