package agent.module.api;

public class Main {
    static int twice(int n) {
        return 2 * n;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += twice(i);
        }
        System.out.println(Main.class.getModule().getName() + " " + sum);
    }
}
