// The class of the documentation's examples: javac --release 8 -g Greeter.java
import java.util.List;

public class Greeter {
    private final String greeting;

    public Greeter(String greeting) {
        this.greeting = greeting;
    }

    public int greet(List<String> names) {
        int greeted = 0;
        for (String name : names) {
            if (name.isEmpty()) {
                throw new IllegalArgumentException("nobody");
            }
            System.out.println(greeting + ", " + name);
            greeted++;
        }
        return greeted;
    }

    public static void main(String[] arguments) {
        System.out.println(new Greeter("Hello").greet(java.util.Arrays.asList(arguments)));
    }
}
