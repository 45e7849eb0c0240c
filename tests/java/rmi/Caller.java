import java.rmi.registry.LocateRegistry;

/** Caller PORT [NAME]: calls the stub "echo", or the beacon of that name, for each line of its standard input, as often as it says; -1: once, for ever. */
public final class Caller {
    private Caller() {}

    public static void main(String[] args) throws Exception {
        java.rmi.Remote found = LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0]))
            .lookup(args.length > 1 ? args[1] : "echo");
        System.out.println("ready");
        java.io.BufferedReader lines = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(calls(found, Integer.parseInt(line)));
        }
        System.exit(0);
    }

    private static int calls(java.rmi.Remote found, int calls) throws Exception {
        if (calls < 0) {
            return ((Beacon) found).remoteFoo(-1, 0);
        }
        int sum = 0;
        for (int i = 0; i < calls; i++) {
            sum += found instanceof Echo ? ((Echo) found).echo(4 * i) : ((Beacon) found).remoteFoo(i, 0);
        }
        return sum;
    }
}
