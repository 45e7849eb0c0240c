package java.lang;

/** What the recorder needs of the classes of Java 9 and 19, which no compiler shows for Java 8. Compiled against, and not shipped. */
public class Thread {
    public Thread(ThreadGroup group, Runnable target, String name, long stackSize, boolean inheritThreadLocals) {}

    public final native long threadId();
}
