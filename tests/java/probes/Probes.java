package com.acme;

import java.util.Locale;

/** Prints what it gets. */
public class Probes {
    public static void all(Object self, int a, long b, double c, String d, boolean e, byte f, char g, float h, short i) {
        say("all", self.getClass().getSimpleName(), a, b, c, d, e, f, g, h, i);
    }

    public static void entered(String method) {
        say("entered", method);
    }

    public static void returned(String method, Object value) {
        say("returned", method, value);
    }

    public static void returned(String method, long value) {
        say("returned long", method, value);
    }

    public static void returned(String method, int value) {
        say("returned int", method, value);
    }

    public static void text(CharSequence value, Victim self) {
        say("text", value, self != null);
    }

    public static void kept(int kept, String result) {
        say("kept", kept, result);
    }

    public static void thrown(Throwable exception) {
        say("thrown", exception);
    }

    public static void thrown(Victim self, String what, long number, Throwable exception, String constant) {
        say("thrown", self != null, what, number, exception.getClass().getSimpleName(), constant);
    }

    public static void constants(int a, long b, double c, String d) {
        say("constants", a, b, c, d);
    }

    public static void many(int a, int b, int c, int d, int e, int f) {
        say("many", a, b, c, d, e, f);
    }

    public static void price(Object receiver, long base, String target) {
        say("price", receiver, base, target);
    }

    public static void priced(long price, Object receiver, long base) {
        say("priced", price, receiver, base);
    }

    public static void appended(StringBuilder builder, int value) {
        say("append int", builder, value);
    }

    public static void appended(StringBuilder builder, double value) {
        say("append double", builder, value);
    }

    public static void appended(StringBuilder builder, char value) {
        say("append char", builder, value);
    }

    public static void line(String text) {
        say("made of", text);
    }

    public static void got(Object item, int value, String target) {
        say("got", item, value, target);
    }

    public static void put(int value, Object item) {
        say("put", value, item);
    }

    public static void rate(double value) {
        say("rate", value);
    }

    public static void made(Object made, String target) {
        say("made", made.getClass().getSimpleName(), target);
    }

    public static void here(Object self, int n) {
        say("here", self != null, n);
    }

    public static void below(String method) {
        say("below", method);
    }

    public static void id(int id) {
        say("id", id > 0);
    }

    static void say(Object... values) {
        StringBuilder line = new StringBuilder("  #");
        for (Object value : values) {
            line.append(' ').append(value instanceof Double ? String.format(Locale.ROOT, "%.2f", value) : String.valueOf(value));
        }
        // The encoding of the standard output is not what is tested.
        StringBuilder ascii = new StringBuilder();
        for (char c : line.toString().toCharArray()) {
            ascii.append(c < 127 && c >= ' ' ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
        System.out.println(ascii);
    }

    public int notStatic(int a) {
        return a;
    }

    public static int returnsSomething(int a) {
        return a;
    }

    static void notPublic(int a) {}

    public static void takes(int a, String b) {}

    public static void takesItem(Victim.Item item) {}

    public static void either(CharSequence one, Object two) {}

    public static void either(Object one, CharSequence two) {}
}
