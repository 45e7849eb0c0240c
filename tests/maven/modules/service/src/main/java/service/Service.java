package service;

public class Service {
    public int value() {
        return 1;
    }
}
