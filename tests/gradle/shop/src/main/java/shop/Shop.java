package shop;

import lib.Price;

public class Shop {
    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 7; i++) {
            sum += Price.of(i);
        }
        System.out.println("sum " + sum);
    }
}
