/** Every way to call a start() that takes and returns nothing; only some of them start a thread. */
public class Main {
    interface Startable {
        void start();
    }

    static class Engine implements Startable {
        @Override
        public void start() {
            System.out.println("engine");
        }
    }

    static class Worker extends Thread implements Startable {
        private final String text;

        Worker(String text) {
            this.text = text;
        }

        @Override
        public void run() {
            System.out.println(text);
        }
    }

    static class Eager extends Worker {
        Eager() {
            super("eager");
            start();
        }

        @Override
        public synchronized void start() {
            super.start();
        }
    }

    static class Motor {
        static int started;

        static void start() {
            started++;
        }

        long start(int times) {
            return started += times;
        }
    }

    static void run(Thread thread) throws InterruptedException {
        thread.start();
        thread.join();
    }

    static void runAny(Startable startable) throws InterruptedException {
        startable.start();
        if (startable instanceof Thread) {
            ((Thread) startable).join();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        run(new Thread(() -> System.out.println("runnable")));
        run(new Worker("worker"));
        runAny(new Worker("startable"));
        runAny(new Engine());
        new Eager().join();
        Worker referred = new Worker("reference");
        Runnable later = referred::start;
        later.run();
        referred.join();
        Motor.start();
        System.out.println(new Motor().start(2));
        try {
            Thread none = args.length == 0 ? null : Thread.currentThread();
            none.start();
        } catch (NullPointerException e) {
            System.out.println("none");
        }
        Thread thread = new Worker("twice");
        run(thread);
        try {
            thread.start();
        } catch (IllegalThreadStateException e) {
            System.out.println("not twice");
        }
    }
}
