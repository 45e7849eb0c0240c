package com.acme.checkout;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;

/** Ten sums, each with a rate of another service that takes its time. */
public class Checkout {
    static class Rates {
        final String address;

        Rates(String address) {
            this.address = address;
        }

        int rate() throws IOException {
            HttpURLConnection connection = (HttpURLConnection) new URL(address).openConnection();
            return connection.getResponseCode();
        }
    }

    static int total(Rates rates) throws IOException {
        return 3 * rates.rate();
    }

    public static void main(String[] words) throws IOException {
        Rates rates = new Rates(words[0]);
        int sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += total(rates);
        }
        System.out.println(sum);
    }
}
