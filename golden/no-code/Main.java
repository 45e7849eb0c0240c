public class Main {
    abstract static class Shape {
        abstract int area();
    }

    static final class Text implements Comparable<Text> {
        @Override
        public int compareTo(Text other) {
            return 7;
        }
    }

    static native void missing();

    @SuppressWarnings({"unchecked", "rawtypes"})
    public static void main(String[] args) {
        System.out.println(((Comparable) new Text()).compareTo(new Text()));
        System.out.println(new Shape() {
            @Override
            int area() {
                return 4;
            }
        }.area());
        try {
            missing();
        } catch (UnsatisfiedLinkError e) {
            System.out.println("native");
        }
    }
}
