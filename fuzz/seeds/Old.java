/** A class of version 52 without debug information: nest mates are reached through access methods. */
public class Old {
    private int secret;

    class Inner {
        int peek() { return secret + Old.this.secret++; }
    }

    native void absent();

    static int wide(int n) {
        long a = n, b = a, c = b;
        int i = 0;
        for (; i < n; i += 30000) { a += b * c >>> 3; }
        return a > b ? (int) a : i;
    }
}
