public class Main {
    static int word(String text) {
        switch (text) {
            case "Aa":
                return 1;
            case "BB":
                return 2;
            case "other":
                return 3;
            default:
                return 0;
        }
    }

    static int dense(int n) {
        switch (n) {
            case 1:
                return 10;
            case 2:
            case 3:
                n *= 2;
            case 5:
                return n;
            default:
                return -1;
        }
    }

    static int sparse(int n) {
        int sum = 1;
        switch (n) {
            case Integer.MIN_VALUE:
                return 1;
            case 4:
                sum++;
                break;
            case Integer.MAX_VALUE:
                return 3;
        }
        return sum;
    }

    public static void main(String[] args) {
        for (String text : new String[] {"Aa", "BB", "C#", "other", ""}) {
            System.out.println(word(text));
        }
        for (int n : new int[] {Integer.MIN_VALUE, 2, 4, 5, Integer.MAX_VALUE}) {
            System.out.println(dense(n) + " " + sparse(n));
        }
    }
}
