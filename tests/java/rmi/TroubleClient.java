import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.util.concurrent.Callable;

/** TroubleClient PORT [lost]: makes calls that fail. When its standard input ends nobody is to be there any more, and it calls once more. */
public final class TroubleClient {
    private TroubleClient() {}

    public static void main(String[] args) throws Exception {
        Registry registry = LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0]));
        Trouble trouble = (Trouble) registry.lookup("trouble");
        Echo echo = (Echo) registry.lookup("echo");
        System.out.println("ready");
        if (args.length == 1) {
            tell(() -> echo.echo(5));
            tell(() -> take(trouble, "taken"));
            tell(() -> take(trouble, new Echo.Unwritable()));
            tell(() -> take(trouble, new Trouble.Unreadable()));
            Trouble other = trouble.other();
            tell(other::leave);
            tell(other::leave);
            tell(() -> trouble.slow(new byte[1 << 20]));
        }
        System.out.println("done");
        while (System.in.read() >= 0) {
        }
        tell(() -> take(trouble, "lost"));
        tell(() -> echo.echo(6));
        tell(() -> registry.list().length);
        System.exit(0);
    }

    private static int take(Trouble trouble, Object value) throws RemoteException {
        trouble.take(value);
        return 0;
    }

    private static void tell(Callable<Integer> call) {
        try {
            System.out.println(call.call());
        } catch (Exception e) {
            System.out.println(e.getClass().getSimpleName());
        }
    }
}
