import kotlin.coroutines.Continuation;

public class Main {
    public static void main(String[] args) {
        Flow flow = new Flow();
        flow.sum(3, result -> System.out.println(result));
        int i = 0;
        while (flow.waiting != null) {
            Continuation<? super Integer> continuation = flow.waiting;
            flow.waiting = null;
            continuation.resumeWith(i++ % 5);
        }
        System.out.println(i);
    }
}
