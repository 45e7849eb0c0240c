public class Main {
    static class Base {
        Base(int n) {
            work(n);
        }
    }

    static final class Job extends Base implements Runnable {
        int failed;

        Job(int n) {
            super(n);
        }

        @Override
        public void run() {
            for (int i = 0; i < 999; i++) {
                try {
                    new Job(i);
                } catch (IllegalStateException e) {
                    failed++;
                }
            }
        }
    }

    static int work(int n) {
        if (n % 2 == 1) {
            throw new IllegalStateException();
        }
        return n;
    }

    public static void main(String[] args) throws InterruptedException {
        Job[] jobs = new Job[4];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 4; i++) {
            jobs[i] = new Job(2 * i);
            threads[i] = new Thread(jobs[i]);
            threads[i].start();
        }
        int failed = 0;
        for (int i = 0; i < 4; i++) {
            threads[i].join();
            failed += jobs[i].failed;
        }
        System.out.println(failed);
    }
}
