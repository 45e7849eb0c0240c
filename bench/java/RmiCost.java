import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;

/**
 * What remote calls cost. {@code RmiCost server PORT} serves until its standard input ends; {@code RmiCost client PORT ROUNDS CALLS} calls it
 * and prints the ns of a call in the best round.
 */
public final class RmiCost {
    private RmiCost() {}

    /** A remote call that does nothing. */
    public interface Echo extends Remote {
        int echo(int number) throws RemoteException;
    }

    private static final class Server extends UnicastRemoteObject implements Echo {
        private static final long serialVersionUID = 1;

        Server() throws RemoteException {}

        @Override
        public int echo(int number) {
            return number;
        }
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[1]);
        if (args[0].equals("server")) {
            Registry registry = LocateRegistry.createRegistry(port);
            registry.rebind("echo", new Server());
            System.out.println("ready");
            while (System.in.read() >= 0) {
                // Until the end.
            }
            System.exit(0);
        }
        Echo echo = (Echo) LocateRegistry.getRegistry("127.0.0.1", port).lookup("echo");
        int calls = Integer.parseInt(args[3]);
        long best = Long.MAX_VALUE;
        for (int round = 0; round < Integer.parseInt(args[2]); round++) {
            long start = System.nanoTime();
            for (int call = 0; call < calls; call++) {
                if (echo.echo(call) != call) {
                    throw new AssertionError();
                }
            }
            best = Math.min(best, (System.nanoTime() - start) / calls);
        }
        System.out.println(best);
    }
}
