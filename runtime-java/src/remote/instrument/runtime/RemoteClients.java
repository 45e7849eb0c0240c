package instrument.runtime;

import java.rmi.server.RemoteServer;
import java.rmi.server.ServerNotActiveException;
import java.util.HashMap;

/** Whom a thread serves, where the classes of the JDK do not tell: it is asked only of threads that look like those of remote method invocation. */
final class RemoteClients {
    /** The thread group of the threads that serve, since Java 1.2. Nothing of the JDK's is loaded for the question. */
    private static final String GROUP = "RMI Runtime";
    /** Hosts with a number at most. */
    private static final int MOST = 4096;
    private static final HashMap<String, Integer> NUMBERS = new HashMap<String, Integer>();

    private RemoteClients() {}

    /** Another recording begins: it has other numbers. */
    static void renew() {
        synchronized (NUMBERS) {
            NUMBERS.clear();
        }
    }

    /** The host of the client that the current thread serves; null: it serves none, and is not one of those that do. */
    static String host() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        if (group == null || !GROUP.equals(group.getName())) {
            return null;
        }
        try {
            return RemoteServer.getClientHost();
        } catch (ServerNotActiveException e) {
            return null;
        } catch (LinkageError e) {
            // A virtual machine without the module java.rmi.
            return null;
        }
    }

    /** The number of a host in the class names; 0: there were too many. */
    static int number(String host) {
        synchronized (NUMBERS) {
            Integer known = NUMBERS.get(host);
            if (known == null) {
                if (NUMBERS.size() == MOST) {
                    return 0;
                }
                known = ClassNames.text(host);
                NUMBERS.put(host, known);
            }
            return known;
        }
    }
}
