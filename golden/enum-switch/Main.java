public class Main {
    static String name(Color color) {
        switch (color) {
            case RED:
                return "rot";
            case GREEN:
                return "gr\u00fcn".length() == 4 ? "gruen" : "?";
            default:
                return color.toString();
        }
    }

    public static void main(String[] args) {
        for (Color color : Color.values()) {
            System.out.println(name(color));
        }
    }
}

enum Color {
    RED,
    GREEN,
    BLUE
}
