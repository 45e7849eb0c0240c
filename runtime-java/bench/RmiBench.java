import instrument.runtime.RmiMarkers;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.server.ObjID;
import java.rmi.server.UID;

/** What the markers of a remote call cost: java -cp runtime-java/classes:DIR RmiBench. Prints ns per call, for each side, and bytes are 128. */
public final class RmiBench {
    private RmiBench() {}

    public static void main(String[] args) throws Exception {
        ServerSocket listening = new ServerSocket(0);
        Socket socket = new Socket("127.0.0.1", listening.getLocalPort());
        Object client = new Object();
        Object server = new Object();
        RmiMarkers.connection(client, socket, null);
        RmiMarkers.connection(server, listening.accept(), "");
        ObjID id = new ObjID();
        UID uid = new UID();
        Object method = Object.class.getMethod("hashCode");
        int calls = 100_000;
        for (int round = 0; round < 8; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                Object call = new Object();
                RmiMarkers.invoking(method, 7);
                RmiMarkers.callMade(call, client, id, -1, 7);
                RmiMarkers.sent(call);
                RmiMarkers.returned(uid);
                RmiMarkers.freed(client, true);
                RmiMarkers.inputReleased(call);
            }
            long made = System.nanoTime() - start;
            start = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                Object call = new Object();
                RmiMarkers.receiving(call, server);
                RmiMarkers.served(id);
                RmiMarkers.operation(-1);
                RmiMarkers.hash(7);
                RmiMarkers.dispatching(server, method);
                RmiMarkers.inputReleased(call);
                RmiMarkers.calling();
                RmiMarkers.answering(uid);
                RmiMarkers.inputReleased(call);
                RmiMarkers.serviced(true);
            }
            long served = System.nanoTime() - start;
            System.out.println("made " + made / calls + " ns, served " + served / calls + " ns");
        }
    }
}
