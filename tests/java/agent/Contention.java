import java.util.ArrayList;
import java.util.List;

/** Threads that contend and wait, and measure themselves how long. Prints KEY VALUE lines. */
public class Contention {
    static final Object GATE = new Object();
    static final class Lock {}
    static final Lock LOCK = new Lock();
    static volatile int inside;
    static long contended;
    static long waited;
    static long timedOut;

    static void hold(long ms) throws InterruptedException {
        synchronized (LOCK) {
            inside = 1;
            Thread.sleep(ms);
        }
        inside = 0;
    }

    static long enter() {
        long start = System.nanoTime();
        synchronized (LOCK) {
            return System.nanoTime() - start;
        }
    }

    static void contend(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            Thread holder = new Thread("holder") {
                @Override
                public void run() {
                    try {
                        hold(60);
                    } catch (InterruptedException e) {
                        throw new Error(e);
                    }
                }
            };
            holder.start();
            while (inside == 0) {
                Thread.sleep(1);
            }
            contended += enter();
            holder.join();
        }
    }

    static void pause(long ms) throws InterruptedException {
        long start = System.nanoTime();
        synchronized (GATE) {
            GATE.wait(ms);
        }
        timedOut += System.nanoTime() - start;
    }

    public static void main(String[] args) throws Exception {
        contend(5);
        for (int i = 0; i < 4; i++) {
            pause(50);
        }
        try {
            GATE.wait(10);
        } catch (IllegalMonitorStateException e) {
            System.out.println("illegal 1");
        }
        System.out.println("contended " + contended);
        System.out.println("timedOut " + timedOut);
    }
}
