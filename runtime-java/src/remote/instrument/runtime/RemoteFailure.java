package instrument.runtime;

/** Something of a remote call is not recorded. */
final class RemoteFailure {
    private static boolean complained;

    private RemoteFailure() {}

    /** Says so once. What ends a thread of the program goes on. */
    static void say(Throwable reason) {
        boolean death = false;
        try {
            death = ThreadStop.is(reason);
            if (!death && !complained) {
                complained = true;
                Log.say("a remote call could not be recorded: " + reason);
            }
        } catch (Throwable e) {
            // Nothing is left to try.
        }
        if (death) {
            throw (Error) reason;
        }
    }
}
