import java.rmi.server.UnicastRemoteObject;

/** EchoImpl CALLS: a client and its server in one machine, by stub and skeleton of the first protocol. */
public final class EchoImpl implements Echo {
    @Override
    public int echo(int value) {
        if (value % 4 == 3) {
            throw new IllegalArgumentException(Integer.toString(value));
        }
        return value;
    }

    @Override
    public void take(Object value) {
        System.out.println(value);
    }

    @SuppressWarnings("deprecation")
    public static void main(String[] args) throws Exception {
        EchoImpl server = new EchoImpl();
        Echo stub = (Echo) UnicastRemoteObject.exportObject(server);
        int sum = 0;
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            try {
                sum += stub.echo(i);
            } catch (IllegalArgumentException e) {
                sum--;
            }
        }
        try {
            stub.take(new Unwritable());
        } catch (java.rmi.MarshalException e) {
            System.out.println("unwritable");
        }
        stub.take("taken");
        UnicastRemoteObject.unexportObject(server, true);
        try {
            stub.echo(1);
        } catch (java.rmi.NoSuchObjectException e) {
            System.out.println("gone");
        }
        System.out.println(stub.getClass().getName() + " " + sum);
        System.exit(0);
    }
}
