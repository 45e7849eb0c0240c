package java.lang;

/** What the recorder needs of the class of Java 19, which no compiler shows for Java 8. Compiled against, and not shipped. */
public class Thread {
    public final native long threadId();
}
