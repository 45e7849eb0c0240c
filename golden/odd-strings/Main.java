public class Main {
    static int \u00e4nd\u0435r\u4e2d(String text) {
        int hash = 0;
        for (int i = 0; i < text.length(); i++) {
            hash = 31 * hash + text.charAt(i);
        }
        return hash;
    }

    public static void main(String[] args) {
        System.out.println(\u00e4nd\u0435r\u4e2d("\ud800 lone \udc00"));
        System.out.println(\u00e4nd\u0435r\u4e2d("a\0b"));
        System.out.println(\u00e4nd\u0435r\u4e2d("\ud83d\ude00 pair"));
        System.out.println(\u00e4nd\u0435r\u4e2d("\u0080\u07ff\u0800\uffff"));
    }
}
