package instrument.runtime;

import java.util.TimerTask;
import java.util.concurrent.ForkJoinTask;

/** The hooks of the hand-over transform for tasks that are given as they are, recording for the judge. */
public final class TaskLinks {
    private TaskLinks() {}

    public static void given(Object task) {
        Recorder.other("task given");
    }

    /** A number for every task, so that its end can be told from others. */
    public static int taskBegins(Object task) {
        return task instanceof ForkJoinTask || task instanceof TimerTask ? 1 : 0;
    }

    public static void taskEnds(int link) {
        if (link != 0) {
            Recorder.other("task ends");
        }
    }
}
