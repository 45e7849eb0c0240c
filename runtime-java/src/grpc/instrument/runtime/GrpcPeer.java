package instrument.runtime;

import java.net.InetAddress;

/** The number of an address as text; of the last one it is known without a look. */
final class GrpcPeer {
    private static volatile GrpcPeer last;

    private final InetAddress address;
    private final int number;
    private final int recording;

    private GrpcPeer(InetAddress address, int number, int recording) {
        this.address = address;
        this.number = number;
        this.recording = recording;
    }

    /** 0: there is none. */
    static int number(InetAddress address) {
        if (address == null) {
            return 0;
        }
        GrpcPeer known = last;
        if (known != null && known.recording == Recording.number && known.address.equals(address)) {
            return known.number;
        }
        // Before the text gets its number: another recording may begin meanwhile.
        int recording = Recording.number;
        int number = RemoteClients.number(address.getHostAddress());
        last = new GrpcPeer(address, number, recording);
        return number;
    }
}
