package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** How messages are asked, of either package. There is one for each class of messages. */
final class JmsLibrary {
    private static final String[] PACKAGES = {"jakarta.jms.", "javax.jms."};
    private static final ClassValue<Object> KNOWN = new ClassValue<Object>() {
        @Override
        protected Object computeValue(Class<?> type) {
            Object found = new Object();
            for (String name : PACKAGES) {
                Class<?> message = Asked.above(type, name + "Message");
                try {
                    found = message == null ? found : new JmsLibrary(message, name);
                } catch (ClassNotFoundException e) {
                    // It is another library under the same name.
                } catch (LinkageError e) {
                    // Something that it needs is not there.
                }
            }
            return Copy.held(found, null);
        }
    };

    private final MethodHandle id;
    private final MethodHandle destination;
    private final MethodHandle header;
    private final MethodHandle give;
    private final Class<?> queue;
    private final Class<?> topic;
    private final MethodHandle queueName;
    private final MethodHandle topicName;
    private final Class<?> temporaryQueue;
    private final Class<?> temporaryTopic;

    private JmsLibrary(Class<?> message, String in) throws ClassNotFoundException {
        ClassLoader loader = message.getClassLoader();
        id = Asked.method(message, "getJMSMessageID");
        destination = Asked.method(message, "getJMSDestination");
        header = Asked.method(message, "getStringProperty", String.class);
        give = Asked.method(message, "setStringProperty", String.class, String.class);
        queue = Class.forName(in + "Queue", false, loader);
        topic = Class.forName(in + "Topic", false, loader);
        queueName = Asked.method(queue, "getQueueName");
        topicName = Asked.method(topic, "getTopicName");
        temporaryQueue = Class.forName(in + "TemporaryQueue", false, loader);
        temporaryTopic = Class.forName(in + "TemporaryTopic", false, loader);
    }

    /** Null: it is no message. */
    static JmsLibrary of(Object message) {
        Object known = Copy.of(KNOWN.get(message.getClass()));
        return known instanceof JmsLibrary ? (JmsLibrary) known : null;
    }

    /** Null: it has none, as before it is sent, and where the sender has done without. */
    String id(Object message) {
        return HttpLibrary.text(Asked.ask(id, message));
    }

    String header(Object message) {
        return HttpLibrary.text(Asked.ask(header, message, TraceParent.HEADER));
    }

    /** Whether it has such a header now: one that was received has properties that cannot be changed. */
    boolean give(Object message, String text) {
        Asked.ask(give, message, TraceParent.HEADER, text);
        return text.equals(header(message));
    }

    /** The number of what it is called: where it goes to. 0: that is not known. */
    int name(Object message) {
        Object to = Asked.ask(destination, message);
        if (temporaryQueue.isInstance(to) || temporaryTopic.isInstance(to)) {
            // The name of each is its own.
            return RemoteNames.of(temporaryQueue.isInstance(to) ? "temporary queue" : "temporary topic");
        }
        if (queue.isInstance(to)) {
            return named("queue ", Asked.ask(queueName, to));
        }
        if (topic.isInstance(to)) {
            return named("topic ", Asked.ask(topicName, to));
        }
        return 0;
    }

    private static int named(String kind, Object name) {
        return name instanceof String ? RemoteNames.given(kind, (String) name) : 0;
    }
}
