import java.lang.reflect.Array;

public class Main implements Cloneable {
    int value = 1;

    @Override
    protected Object clone() throws CloneNotSupportedException {
        Main copy = (Main) super.clone();
        copy.value++;
        return copy;
    }

    static class Below extends Main {
        @Override
        protected Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static class Inherits implements Cloneable {
        Object copy() throws CloneNotSupportedException {
            return clone();
        }
    }

    static class Fails {
        Object copy() {
            try {
                return super.clone();
            } catch (CloneNotSupportedException e) {
                return null;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int[] row = {1, 2, 3};
        int[][] rows = {row, row.clone()};
        int[][] shallow = rows.clone();
        System.out.println(shallow[1] == rows[1]);
        System.out.println(((int[]) Array.newInstance(int.class, 4)).length);
        System.out.println(((int[][][]) Array.newInstance(int[].class, 1, 2))[0].length);
        System.out.println(((Object[]) Array.newInstance(String.class, new int[] {2})).length);
        String[] words = {"a"};
        System.out.println(words.clone()[0]);
        System.out.println(((Main) new Main().clone()).value + ((Main) new Below().clone()).value);
        System.out.println(new Inherits().copy().getClass());
        System.out.println(new Fails().copy());
        try {
            Array.newInstance(int.class, -1);
        } catch (NegativeArraySizeException e) {
            System.out.println("negative");
        }
    }
}
