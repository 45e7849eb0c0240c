//@calls big 300
final class StringSwitch {
    static String big(String key) {
        //@fill
        switch (key) {
            //@repeat 900 case "key$i": return "value$i";
            default: return key;
        }
    }

    static void run() {
        int hash = 0;
        for (int i = 0; i < 300; i++) {
            hash = hash * 31 + big("key" + i * 4).hashCode();
        }
        System.out.println(hash);
    }
}
