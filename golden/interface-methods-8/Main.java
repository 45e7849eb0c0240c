public class Main {
    public static void main(String[] args) {
        Counter counter = Counter.start();
        System.out.println(counter.next() + counter.next() + counter.next());
    }
}

interface Counter {
    int[] STATE = new int[1];

    default int next() {
        return ++STATE[0];
    }

    static Counter start() {
        return new Counter() {};
    }
}
