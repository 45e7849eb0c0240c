package sun.rmi.transport.tcp;

import sun.rmi.transport.Connection;

/** Has what is looked for in the JDK's class of this name; one method gets a handler and nothing else. */
abstract class TCPChannel {
    abstract Connection create() throws java.rmi.RemoteException;

    public Connection newConnection() throws java.rmi.RemoteException {
        Connection made;
        do {
            synchronized (this) {
                made = create();
            }
        } while (made == null);
        return made;
    }

    public void free(Connection connection, boolean reuse) {
        if (reuse) {
            hashCode();
        }
    }
}
