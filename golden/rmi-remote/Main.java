import java.io.IOException;
import java.lang.reflect.Proxy;
import java.rmi.ConnectException;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.UnexpectedException;
import java.rmi.server.RemoteRef;

/** What an object of a remote class can be called by, and what it cannot. */
public class Main {
    /** Not remote by itself; what extends it may be. */
    interface Closer {
        void close() throws IOException;
    }

    interface Service<T> extends Remote, Closer {
        T serve(T value) throws RemoteException;

        long wide(long first, int second, double third) throws RemoteException;

        @Override
        void close() throws RemoteException;

        /** Reached by objects of classes that do not have one. */
        default int twice(int value) throws RemoteException {
            return 2 * value;
        }

        static int constant() {
            return 7;
        }
    }

    /** Not remote: a remote class inherits from it. */
    static class Base {
        public void close() {
            System.out.println("closed");
        }

        public int local() {
            return 1;
        }
    }

    static class Direct extends Base implements Service<String> {
        /** The bridge with the erased type is what is called. */
        @Override
        public String serve(String value) {
            return local() + value + hidden(value);
        }

        @Override
        public long wide(long first, int second, double third) throws RemoteException {
            if (second < 0) {
                throw new RemoteException("negative");
            }
            return second == 0 ? first : first + (long) third;
        }

        private String hidden(String value) {
            return "!";
        }

        public static int serve(int value) {
            return value;
        }
    }

    static final class Below extends Direct {
        @Override
        public int twice(int value) {
            if (value > 9) {
                throw new IllegalArgumentException("large");
            }
            return value + value;
        }
    }

    /** Of the same form, and not remote. */
    static final class Aside implements Closer {
        @Override
        public void close() {}

        public int twice(int value) {
            return value;
        }
    }

    interface Far extends Remote {
        void reach() throws RemoteException;
    }

    /** A stub is remote itself: what it throws passes two handlers. */
    static final class Far_Stub implements Far {
        private final RemoteRef ref;

        Far_Stub(RemoteRef ref) {
            this.ref = ref;
        }

        @Override
        public void reach() throws RemoteException {
            try {
                ref.invoke(this, null, null, 7);
            } catch (RemoteException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new UnexpectedException("reach", e);
            }
        }
    }

    /** Lies far away. */
    private static RemoteRef nowhere() {
        return (RemoteRef) Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {RemoteRef.class}, (proxy, method, values) -> {
            throw new ConnectException("nowhere");
        });
    }

    public static void main(String[] args) throws Exception {
        Service<String> direct = new Direct();
        Service<String> below = new Below();
        System.out.println(direct.serve("a") + direct.twice(4) + below.twice(4) + Service.constant());
        System.out.println(direct.wide(1L << 40, 0, 2.5) + below.wide(1, 2, 3.5));
        direct.close();
        new Base().close();
        new Aside().close();
        System.out.println(new Aside().twice(3) + Direct.serve(5));
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println(i == 0 ? below.twice(10) : below.wide(1, -1, 0));
            } catch (RemoteException | IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
        }
        try {
            new Far_Stub(nowhere()).reach();
        } catch (RemoteException e) {
            System.out.println(e.getMessage());
        }
    }
}
