import java.rmi.registry.LocateRegistry;

/** BeaconClient PORT NAME CALLS [hang]: the last call does not return. */
public final class BeaconClient {
    private BeaconClient() {}

    public static void main(String[] args) throws Exception {
        Beacon beacon = (Beacon) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0])).lookup(args[1]);
        int sum = 0;
        for (int serial = 0; serial < Integer.parseInt(args[2]); serial++) {
            sum += beacon.remoteFoo(serial, 0);
        }
        System.out.println(sum);
        if (args.length > 3) {
            beacon.remoteFoo(-1, 0);
        }
    }
}
