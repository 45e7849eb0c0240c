//@calls big 100
final class ElseIfs {
    static long big(long key) {
        //@fill
        long result = 0;
        if (key < 0) {
            result = -1;
        }
        //@repeat 1200 else if (key == $i) { result = $i * 11; }
        else {
            result = key;
        }
        while (result > 1_000_000) {
            result /= 3;
        }
        return result;
    }

    static void run() {
        long sum = 0;
        for (int i = 0; i < 100; i++) {
            sum = sum * 17 + big(i * 13 - 2);
        }
        System.out.println(sum);
    }
}
