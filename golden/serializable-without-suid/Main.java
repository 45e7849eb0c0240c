import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;

public class Main {
    static final class Point implements Serializable {
        final int x;
        final int y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }
    }

    static class WithInit implements Serializable {
        static int made = Integer.parseInt("3");

        void method() {}

        private void hidden() {}
    }

    public static void main(String[] args) throws Exception {
        for (Class<?> type : new Class<?>[] {Point.class, WithInit.class}) {
            System.out.println(ObjectStreamClass.lookup(type).getSerialVersionUID());
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(new Point(3, 4));
        Point point;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())) {
            @Override
            protected Class<?> resolveClass(java.io.ObjectStreamClass type) throws ClassNotFoundException {
                return Class.forName(type.getName(), false, Main.class.getClassLoader());
            }
        }) {
            point = (Point) in.readObject();
        }
        System.out.println(point.x + " " + point.y + " " + bytes.size() + " " + WithInit.made);
    }
}
