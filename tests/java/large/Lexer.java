//@calls big 20
final class Lexer {
    static int big(String text, int state) {
        //@fill
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            switch (state) {
                //@repeat 180 case $i: switch (c) { case 'a': state = $i * 7 % 180; break; case 'b': state = $i * 3 % 180; break; case 'c': state++; break; case '$': return $i; default: state = 0; } break;
                default: state = 1;
            }
        }
        return state;
    }

    static void run() {
        for (int i = 0; i < 20; i++) {
            System.out.print(big("abacabbacccabcaabcbxabca".substring(i) + (i % 3 == 0 ? "$" : ""), i * 8) + " ");
        }
        System.out.println();
    }
}
