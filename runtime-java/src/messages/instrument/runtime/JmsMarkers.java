package instrument.runtime;

/**
 * What rewritten code calls around messages by JMS that it sends and receives. No message is changed, unless the user has asked for a header; no failure
 * reaches the program but ThreadDeath, and StackOverflowError where something begins.
 */
public final class JmsMarkers {
    private static final int SENDING = 0;
    private static final int RECEIVED = 1;

    private JmsMarkers() {}

    /** A message is about to be sent. */
    public static int jmsSending(Object message) {
        return begin(SENDING, message);
    }

    /** A message is about to be handed to the program. */
    public static int jmsDelivered(Object message) {
        return begin(RECEIVED, message);
    }

    /** The program has asked for a message, and got this one, or null. */
    public static int jmsReceived(Object message) {
        return begin(RECEIVED, message);
    }

    /** The call of this number has returned. */
    public static void jmsSent(int number) {
        end(number, false);
    }

    /** An exception has left it. */
    public static void jmsFailed(Object exception, int number) {
        end(number, true);
    }

    /** The method that has received a message by this number returns, or asks for the next one. */
    public static void jmsLeft(int number) {
        end(number, false);
    }

    /** An exception leaves it. */
    public static void jmsBroken(Object exception, int number) {
        end(number, true);
    }

    private static int begin(int event, Object message) {
        if (message == null || !Gate.isOpen()) {
            return 0;
        }
        StackReserve.frame();
        RemoteCalls calls = null;
        int depth = 0;
        boolean hasBegun = false;
        try {
            calls = RemoteCalls.enter(true);
            if (calls == null) {
                return 0;
            }
            depth = calls.depth;
            // What begins here is ended here.
            StackLevels.need(StackLevels.OF_FILE);
            int number = event == SENDING ? JmsCalls.sending(calls, message) : JmsCalls.received(calls, message);
            hasBegun = true;
            return number;
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            RemoteFailure.say(e);
            return 0;
        } finally {
            if (calls != null) {
                // What did not begin is nobody's to end.
                while (!hasBegun && calls.depth > depth) {
                    calls.remove(calls.depth - 1);
                }
                calls.state.mode = calls.mode;
            }
        }
    }

    private static void end(int number, boolean hasFailed) {
        if (number == 0) {
            return;
        }
        long now = Clock.now();
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(false);
            if (calls != null) {
                JmsCalls.ended(calls, number, hasFailed, now);
            }
        } catch (Throwable e) {
            RemoteFailure.say(e);
        } finally {
            if (calls != null) {
                calls.state.mode = calls.mode;
            }
        }
    }
}
