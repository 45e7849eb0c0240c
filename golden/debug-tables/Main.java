import java.util.ArrayList;
import java.util.List;

public class Main<T> {
    <U extends T> List<T> pair(List<U> first, T second) {
        List<T> both = new ArrayList<>();
        for (U item : first) {
            List<? super U> view = both;
            view.add(item);
        }
        {
            long size = both.size();
            T copy = size > 1 ? second : null;
            both.add(copy);
        }
        return both;
    }

    public static void main(String[] args) {
        Main<Object> main = new Main<>();
        List<String> one = new ArrayList<>();
        one.add("a");
        System.out.println(main.pair(one, 1));
        one.add("b");
        System.out.println(main.pair(one, 2));
    }
}
