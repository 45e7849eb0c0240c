import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The serial numbers of the calls that each thread made and served, in their order. Which thread of a profile that is, a call tells that the
 * thread makes first of all: its object has a number of its own.
 */
final class StormLog {
    private static final Pattern NUMBER = Pattern.compile("objID:\\[[^\\]]*?(-?\\d+)\\]");
    private static final List<StormLog> ALL = new ArrayList<>();
    private static final ThreadLocal<StormLog> MINE = new ThreadLocal<>();

    /** Called once by each thread. */
    interface Mark extends Remote {
        void mark() throws RemoteException;
    }

    private static final class Marked implements Mark {
        @Override
        public void mark() {}
    }

    private final Mark mark = new Marked();
    private final String number;
    private final StringBuilder made = new StringBuilder();
    private final StringBuilder served = new StringBuilder();

    private StormLog() {
        try {
            Mark stub = (Mark) UnicastRemoteObject.exportObject(mark, 0);
            Matcher found = NUMBER.matcher(stub.toString());
            if (!found.find()) {
                throw new IllegalStateException(stub.toString());
            }
            number = found.group(1);
            stub.mark();
        } catch (RemoteException e) {
            throw new IllegalStateException(e);
        }
    }

    private static StormLog mine() {
        StormLog log = MINE.get();
        if (log == null) {
            log = new StormLog();
            MINE.set(log);
            synchronized (ALL) {
                ALL.add(log);
            }
        }
        return log;
    }

    /** This thread is about to make a call. */
    static long made(long serial) {
        mine().made.append(' ').append(serial);
        return serial;
    }

    /** This thread serves a call. */
    static void served(long serial) {
        mine().served.append(' ').append(serial);
    }

    /** Prints all: number of the object that marks the thread, side, serial numbers. */
    static void print() {
        synchronized (ALL) {
            for (StormLog log : ALL) {
                System.out.println(log.number + " made" + log.made);
                System.out.println(log.number + " served" + log.served);
            }
        }
    }
}
