package com.acme.sessions;

import java.util.ArrayList;
import java.util.List;

/** Sessions that nobody ends, and work that leaves nothing. */
public class Sessions {
    static class Session {
        final byte[] data = new byte[100];
    }

    static final List<Session> OPEN = new ArrayList<>(5000);

    static void login() {
        OPEN.add(new Session());
    }

    static int serve(int i) {
        return new long[8 + i % 2].length;
    }

    public static void main(String[] words) {
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            if (i % 10 == 0) {
                login();
            }
            sum += serve(i);
            if (i % 1000 == 999) {
                System.gc();
            }
        }
        System.out.println(sum);
    }
}
