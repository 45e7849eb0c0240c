package com.acme.start;

import java.util.TreeMap;

/** A server whose catalog is filled before the first request. */
public class Start {
    static class Catalog {
        static final TreeMap<String, Integer> PRICES = new TreeMap<>();

        static {
            for (int i = 0; i < 400_000; i++) {
                PRICES.put(name(i), i);
            }
        }

        static String name(int i) {
            return Integer.toString(i * 7919, 36);
        }
    }

    static int serve() {
        return Catalog.PRICES.size();
    }

    public static void main(String[] words) {
        System.out.println(serve());
    }
}
