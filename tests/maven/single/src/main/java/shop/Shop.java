package shop;

public class Shop {
    public int price(int n) {
        return n * 2;
    }

    public static void main(String[] arguments) {
        System.out.println(new Shop().price(2));
    }
}
