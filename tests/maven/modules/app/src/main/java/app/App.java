package app;

public class App {
    public int value() {
        return 1;
    }
}
