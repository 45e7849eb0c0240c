package shop;

public class Never {
    void called() {}
}
