package base;

public class Base {
    public int value() {
        return 1;
    }
}
