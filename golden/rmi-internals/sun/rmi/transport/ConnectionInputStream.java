package sun.rmi.transport;

import java.io.DataInput;
import java.io.IOException;
import java.rmi.server.UID;

/** Has what is looked for in the JDK's class of this name. */
abstract class ConnectionInputStream implements DataInput {
    private UID ackID;

    void readID() throws IOException {
        ackID = UID.read(this);
    }
}
