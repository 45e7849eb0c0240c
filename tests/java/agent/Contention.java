import java.util.concurrent.CountDownLatch;

/** Threads that contend and wait, and measure themselves how long: lines of KEY VALUE, ns. */
public class Contention {
    static final class Lock {}

    static final class Gate {}

    static final Lock LOCK = new Lock();
    static final Gate GATE = new Gate();
    static volatile boolean inside;
    static long contended;
    static long timedOut;
    static long notified;
    static long interrupted;

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new Error(e);
        }
    }

    /** Until the other thread has to wait, and so long after: whatever the processors are busy with, it does wait. */
    static void hold(Thread other, long ms) {
        synchronized (LOCK) {
            inside = true;
            while (other.getState() != Thread.State.BLOCKED) {
                sleep(1);
            }
            sleep(ms);
        }
    }

    static long enter() {
        long start = System.nanoTime();
        synchronized (LOCK) {
            return System.nanoTime() - start;
        }
    }

    static long pause(long ms) throws InterruptedException {
        synchronized (GATE) {
            long start = System.nanoTime();
            GATE.wait(ms);
            return System.nanoTime() - start;
        }
    }

    static final class Holder implements Runnable {
        private final Thread other;

        Holder(Thread other) {
            this.other = other;
        }

        @Override
        public void run() {
            hold(other, 60);
        }
    }

    static final class Notifier implements Runnable {
        private final Thread other;

        Notifier(Thread other) {
            this.other = other;
        }

        @Override
        public void run() {
            while (other.getState() != Thread.State.WAITING) {
                sleep(1);
            }
            sleep(40);
            synchronized (GATE) {
                GATE.notifyAll();
            }
        }
    }

    static void measure() throws Exception {
        ThreadGroup group = new ThreadGroup(new ThreadGroup("outer"), "inner");
        for (int i = 0; i < 5; i++) {
            inside = false;
            Thread holder = new Thread(group, new Holder(Thread.currentThread()), "holder");
            holder.start();
            while (!inside) {
                sleep(1);
            }
            contended += enter();
            while (holder.isAlive()) {
                sleep(1);
            }
        }
        for (int i = 0; i < 4; i++) {
            timedOut += pause(50);
        }
        for (int i = 0; i < 3; i++) {
            Thread notifier = new Thread(new Notifier(Thread.currentThread()), "notifier");
            notifier.setDaemon(true);
            notifier.start();
            notified += pause(0);
        }
        int illegal = 0;
        for (int i = 0; i < 7; i++) {
            try {
                GATE.wait(1000);
            } catch (IllegalMonitorStateException e) {
                illegal++;
            }
        }
        Thread.currentThread().interrupt();
        long start = System.nanoTime();
        try {
            pause(1000);
        } catch (InterruptedException e) {
            illegal++;
        }
        interrupted = System.nanoTime() - start;
        System.out.println("illegal " + illegal);
        System.out.println("contended " + contended);
        System.out.println("timedOut " + timedOut);
        System.out.println("notified " + notified);
        System.out.println("interrupted " + interrupted);
    }

    static final class Waiting implements Runnable {
        @Override
        public void run() {
            try {
                pause(0);
            } catch (InterruptedException e) {
                throw new Error(e);
            }
        }
    }

    static final class Entering implements Runnable {
        @Override
        public void run() {
            enter();
        }
    }

    /** Leaves a thread that waits and one that is about to enter; the lock is held to the end. */
    static void stuck(boolean forEver) throws Exception {
        Thread waiting = new Thread(new Waiting(), "waiting");
        Thread entering = new Thread(new Entering(), "entering");
        waiting.setDaemon(true);
        entering.setDaemon(true);
        synchronized (LOCK) {
            waiting.start();
            entering.start();
            while (waiting.getState() != Thread.State.WAITING || entering.getState() != Thread.State.BLOCKED) {
                sleep(1);
            }
            // Time enough for their notes, and for the owner to be asked for.
            sleep(1000);
            System.out.println("ready");
            if (forEver) {
                sleep(100000);
            }
            System.exit(0);
        }
    }

    static CountDownLatch left;

    static final class One implements Runnable {
        @Override
        public void run() {
            synchronized (GATE) {
                left.countDown();
                try {
                    GATE.wait();
                } catch (InterruptedException e) {
                    throw new Error(e);
                }
            }
        }
    }

    /** So many threads wait at the same time; then all are let go, and contend. */
    static void many(int threads) throws Exception {
        left = new CountDownLatch(threads);
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(null, new One(), "one", 1 << 19);
            all[i].start();
        }
        left.await();
        synchronized (GATE) {
            GATE.notifyAll();
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.out.println("done");
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "measure":
                measure();
                break;
            case "killed":
                stuck(true);
                break;
            case "exit":
                stuck(false);
                break;
            default:
                many(Integer.parseInt(args[0]));
        }
    }
}
