import java.util.Arrays;

public class Main {
    sealed interface Shape permits Circle, Square {}

    record Circle(double radius) implements Shape {
        Circle {
            if (radius < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    record Square(double side) implements Shape {}

    static double area(Shape shape) {
        if (shape instanceof Circle circle) {
            return 3 * circle.radius * circle.radius;
        }
        return ((Square) shape).side() * ((Square) shape).side;
    }

    public static void main(String[] args) {
        Circle circle = new Circle(2);
        System.out.println(area(circle) + " " + circle + " " + circle.equals(circle));
        System.out.println(area(new Square(3)));
        try {
            new Circle(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(Arrays.toString(Circle.class.getRecordComponents()));
        System.out.println(Shape.class.isSealed() + " " + Shape.class.getPermittedSubclasses().length);
    }
}
