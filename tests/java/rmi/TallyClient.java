import java.io.IOException;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;

/** TallyClient PORT ROUNDS: each of two threads calls everything in every round. */
public final class TallyClient extends Thread {
    private final Tally tally;
    private final int rounds;
    private int sum;

    private TallyClient(Tally tally, int rounds) {
        this.tally = tally;
        this.rounds = rounds;
    }

    @Override
    public void run() {
        for (int round = 0; round < rounds; round++) {
            try {
                sum += tally.add(round) + tally.twice(round) + tally.inherited(round);
                try {
                    tally.fail(round % 2 == 0 ? "" : "why");
                } catch (IOException e) {
                    sum += 1000;
                }
                if (round == 1) {
                    try {
                        tally.deep(0);
                    } catch (RemoteException e) {
                        sum += e.detail instanceof StackOverflowError ? 100000 : 0;
                    }
                }
            } catch (RemoteException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Tally tally = (Tally) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(args[0])).lookup("tally");
        TallyClient[] clients = new TallyClient[2];
        int sum = 0;
        for (int i = 0; i < clients.length; i++) {
            clients[i] = new TallyClient(tally, Integer.parseInt(args[1]));
            clients[i].start();
        }
        for (TallyClient client : clients) {
            client.join();
            sum += client.sum;
        }
        System.out.println(sum);
    }
}
