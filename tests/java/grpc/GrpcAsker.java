import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A client: GrpcAsker PORT CALLS THREADS. Each call has a nonce among its metadata; what is asked depends on its number. */
public class GrpcAsker {
    static final CallOptions.Key<String> NONCE = CallOptions.Key.create("nonce");
    /** {@code own}: calls have a header already; {@code rubbish}: one that is none; else none. */
    private static final String HEADERS = System.getProperty("header", "none");

    public static void main(String[] args) throws Exception {
        ManagedChannel made = NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(args[0])).usePlaintext().build();
        Channel channel = ClientInterceptors.intercept(made, new Marked(null));
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
        Future<?>[] all = new Future<?>[Integer.parseInt(args[1])];
        for (int i = 0; i < all.length; i++) {
            int number = i;
            all[i] = pool.submit(() -> call(channel, number));
        }
        for (Future<?> each : all) {
            each.get();
        }
        pool.shutdown();
        made.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        Remote.tell();
        System.out.println("done");
    }

    static void call(Channel channel, int number) {
        String nonce = "c" + number;
        CallOptions options = CallOptions.DEFAULT.withOption(NONCE, nonce);
        try {
            switch (number % 10) {
                case 0: expect("done", ClientCalls.blockingUnaryCall(channel, Remote.UNARY, options, "broken")); break;
                case 1: expect("done", ClientCalls.blockingUnaryCall(channel, Remote.UNARY, options, "refused")); break;
                case 2: ClientCalls.blockingUnaryCall(channel, Remote.UNARY, options.withDeadlineAfter(40, TimeUnit.MILLISECONDS), "slow"); break;
                case 3: cancelled(channel, options); break;
                case 4: ClientCalls.blockingUnaryCall(channel, Remote.NOWHERE, options, "lost"); break;
                case 5: read(channel, options); break;
                case 6: write(channel, Remote.UP, options, "got 3"); break;
                case 7: write(channel, Remote.BOTH, options, "got 3"); break;
                default: expect("done", step(channel, options));
            }
        } catch (StatusRuntimeException e) {
            // That is what some of them are for.
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static String step(Channel channel, CallOptions options) {
        return ClientCalls.blockingUnaryCall(channel, Remote.UNARY, options, "plain");
    }

    /** Asks with a nonce of one's own. */
    static void ask(Channel next, String nonce) {
        Channel channel = ClientInterceptors.intercept(next, new Marked(nonce));
        expect("done", ClientCalls.blockingUnaryCall(channel, Remote.UNARY, CallOptions.DEFAULT, "plain"));
    }

    private static void cancelled(Channel channel, CallOptions options) throws InterruptedException {
        Future<String> later = ClientCalls.futureUnaryCall(channel.newCall(Remote.UNARY, options), "slow");
        Thread.sleep(20);
        later.cancel(true);
    }

    private static void read(Channel channel, CallOptions options) {
        Iterator<String> all = ClientCalls.blockingServerStreamingCall(channel, Remote.DOWN, options, "read");
        int count = 0;
        while (all.hasNext()) {
            expect("read", all.next());
            count++;
        }
        expect("3", "" + count);
    }

    private static void write(Channel channel, MethodDescriptor<String, String> method, CallOptions options, String last) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        String[] heard = {""};
        StreamObserver<String> answers = new StreamObserver<String>() {
            @Override
            public void onNext(String text) {
                heard[0] = text;
            }

            @Override
            public void onError(Throwable e) {
                heard[0] = e.toString();
                done.countDown();
            }

            @Override
            public void onCompleted() {
                done.countDown();
            }
        };
        boolean isBoth = method == Remote.BOTH;
        ClientCall<String, String> call = channel.newCall(method, options);
        StreamObserver<String> to = isBoth ? ClientCalls.asyncBidiStreamingCall(call, answers) : ClientCalls.asyncClientStreamingCall(call, answers);
        for (int i = 0; i < 3; i++) {
            to.onNext("up" + i);
        }
        to.onCompleted();
        done.await();
        expect(last, heard[0]);
    }

    static void expect(String start, String text) {
        if (!text.startsWith(start)) {
            throw new IllegalStateException(text);
        }
    }

    /** Gives each call its nonce, and says with which header it went. */
    static final class Marked implements ClientInterceptor {
        private final String nonce;

        Marked(String nonce) {
            this.nonce = nonce;
        }

        @Override
        public <A, B> ClientCall<A, B> interceptCall(MethodDescriptor<A, B> method, CallOptions options, Channel next) {
            return new ForwardingClientCall.SimpleForwardingClientCall<A, B>(next.newCall(method, options)) {
                @Override
                public void start(Listener<B> listener, Metadata headers) {
                    String mine = nonce == null ? options.getOption(NONCE) : nonce;
                    headers.put(Remote.NONCE, mine);
                    if (HEADERS.equals("own")) {
                        headers.put(Remote.HEADER, String.format("00-%032x-%016x-01", 0xabcL, 1 + (mine.hashCode() & 0xffffffffL)));
                    } else if (HEADERS.equals("rubbish")) {
                        headers.put(Remote.HEADER, "00-rubbish");
                    }
                    super.start(listener, headers);
                    Remote.said("made", method.getFullMethodName(), mine, headers.get(Remote.HEADER));
                }
            };
        }
    }
}
