public class Main implements Greeter {
    @Override
    public String name() {
        return Greeter.super.name() + "!";
    }

    public static void main(String[] args) {
        System.out.println(new Main().greet());
        Greeter quick = new Greeter() {
            @Override
            public String name() {
                return "quick";
            }
        };
        System.out.println(quick.greet());
    }
}

interface Greeter {
    String WORD = String.valueOf("hello".toCharArray());

    default String greet() {
        return polite(name());
    }

    default String name() {
        return "world";
    }

    private String polite(String name) {
        return join(WORD, name);
    }

    static String join(String a, String b) {
        return a + ", " + b;
    }
}
