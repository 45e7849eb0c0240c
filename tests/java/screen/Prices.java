package com.acme.prices;

/** A clerk asks for prices, and waits while the nightly job has the book. */
public class Prices {
    static class PriceBook {
        long sum;

        void recalculate() throws InterruptedException {
            synchronized (this) {
                Thread.sleep(60);
                sum++;
            }
        }

        long price() {
            synchronized (this) {
                return sum;
            }
        }
    }

    public static void main(String[] words) throws InterruptedException {
        PriceBook book = new PriceBook();
        Thread job = new Thread(() -> {
            try {
                for (int i = 0; i < 10; i++) {
                    book.recalculate();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "nightly");
        job.start();
        long sum = 0;
        while (job.isAlive()) {
            sum += book.price();
            Thread.sleep(5);
        }
        System.out.println(sum > 0);
    }
}
