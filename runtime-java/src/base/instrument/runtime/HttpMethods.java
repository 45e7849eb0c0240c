package instrument.runtime;

/** The methods of requests by HTTP that are told apart. What comes in may have any text as its method. */
final class HttpMethods {
    static final int GET = 0;
    static final int POST = 2;
    private static final String[] NAMES = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "(other method)"};

    private HttpMethods() {}

    /** The number of a text; the last one stands for all others. */
    static int number(Object method) {
        int number = 0;
        while (number < NAMES.length - 1 && !NAMES[number].equals(method)) {
            number++;
        }
        return number;
    }

    static String name(int number) {
        return NAMES[number];
    }

    static int count() {
        return NAMES.length;
    }
}
