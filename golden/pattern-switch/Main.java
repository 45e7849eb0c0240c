public class Main {
    sealed interface Node {}

    record Num(int value) implements Node {}

    record Add(Node left, Node right) implements Node {}

    static int eval(Node node) {
        return switch (node) {
            case Num(int value) -> value;
            case Add(Node left, Node right) -> eval(left) + eval(right);
        };
    }

    static String describe(Object o) {
        return switch (o) {
            case null -> "null";
            case Integer i when i > 10 -> "big " + i;
            case Integer i -> "small " + i;
            case String s -> s;
            default -> "other";
        };
    }

    public static void main(String[] args) {
        System.out.println(eval(new Add(new Num(1), new Add(new Num(2), new Num(3)))));
        System.out.println(describe(null) + describe(11) + describe(5) + describe("x"));
    }
}
