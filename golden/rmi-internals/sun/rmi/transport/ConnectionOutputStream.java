package sun.rmi.transport;

import java.io.DataOutput;
import java.io.IOException;
import java.rmi.server.UID;

/** Writes the UID in two places. */
abstract class ConnectionOutputStream implements DataOutput {
    private final UID ackID = new UID();

    void writeID(boolean twice) throws IOException {
        ackID.write(this);
    }

    void writeID() throws IOException {
        ackID.write(this);
        ackID.write(this);
    }
}
