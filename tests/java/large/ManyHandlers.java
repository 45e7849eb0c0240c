//@calls big 4
//@calls part 2400 800
final class ManyHandlers {
    static int big(String[] parts) {
        //@fill
        int result = 0;
        //@repeat 600 try { result += part(parts, $i); } catch (NumberFormatException e) { result--; }
        return result;
    }

    static int part(String[] parts, int index) {
        return Integer.parseInt(parts[index % parts.length]);
    }

    static void run() {
        for (int i = 0; i < 4; i++) {
            System.out.println(big(new String[] { "1" + i, "x", "-" + i }));
        }
    }
}
