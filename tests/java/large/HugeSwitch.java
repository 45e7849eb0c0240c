//@calls big 500
final class HugeSwitch {
    static int big(int x) {
        //@fill
        switch (x) {
            //@repeat 4000 case $i: return $i * 7 % 30011;
            default: return -1;
        }
    }

    static void run() {
        long sum = 0;
        for (int i = 0; i < 500; i++) {
            sum = sum * 31 + big(i * 9 - 1);
        }
        System.out.println(sum);
    }
}
