import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A service: GrpcHop [port of the next one]. It asks the next one for each message, and says which nonce it has served with which header. */
public class GrpcHop {
    static final Context.Key<String> NONCE = Context.key("nonce");
    private static final Logger LOG = Logger.getLogger("io.grpc");
    static Channel next;

    public static void main(String[] args) throws Exception {
        // It tells of each exception of a method.
        LOG.setLevel(Level.OFF);
        if (args.length > 0) {
            next = NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(args[0])).usePlaintext().build();
        }
        ServerServiceDefinition service = ServerServiceDefinition.builder("hop.Hops")
            .addMethod(Remote.UNARY, ServerCalls.asyncUnaryCall(GrpcHop::ask))
            .addMethod(Remote.DOWN, ServerCalls.asyncServerStreamingCall(GrpcHop::read))
            .addMethod(Remote.UP, ServerCalls.asyncClientStreamingCall(Collector::new))
            .addMethod(Remote.BOTH, ServerCalls.asyncBidiStreamingCall(Talker::new))
            .build();
        ExecutorService pool = Executors.newFixedThreadPool(6);
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
            .executor(pool)
            .addService(ServerInterceptors.intercept(service, new Told()))
            .build()
            .start();
        System.out.println("ready");
        System.out.println(server.getPort());
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
        server.shutdownNow().awaitTermination();
        pool.shutdown();
        Remote.tell();
        System.out.flush();
        Runtime.getRuntime().exit(0);
    }

    static void ask(String text, StreamObserver<String> answer) {
        if (text.startsWith("broken")) {
            throw new IllegalStateException(text);
        } else if (text.startsWith("refused")) {
            answer.onError(Status.FAILED_PRECONDITION.asRuntimeException());
            return;
        } else if (text.startsWith("slow")) {
            sleep(300);
        }
        step(text);
        answer.onNext("done " + text);
        answer.onCompleted();
    }

    static void read(String text, StreamObserver<String> answer) {
        for (int i = 0; i < 3; i++) {
            answer.onNext(text + i);
        }
        step(text);
        answer.onCompleted();
    }

    /** Asks the next service, if there is one. */
    static void step(String text) {
        if (next != null) {
            GrpcAsker.ask(next, "n" + NONCE.get());
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Says which calls are served. */
    static final class Told implements ServerInterceptor {
        @Override
        public <A, B> ServerCall.Listener<A> interceptCall(ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> handler) {
            String nonce = headers.get(Remote.NONCE);
            Remote.said("served", call.getMethodDescriptor().getFullMethodName(), nonce, headers.get(Remote.HEADER));
            return Contexts.interceptCall(Context.current().withValue(NONCE, nonce), call, headers, handler);
        }
    }

    static class Collector implements StreamObserver<String> {
        final StreamObserver<String> answer;
        int count;

        Collector(StreamObserver<String> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(String text) {
            if (count++ == 1) {
                step(text);
            }
        }

        @Override
        public void onError(Throwable e) {
            count = -1;
        }

        @Override
        public void onCompleted() {
            answer.onNext("got " + count);
            answer.onCompleted();
        }
    }

    static final class Talker extends Collector {
        Talker(StreamObserver<String> answer) {
            super(answer);
        }

        @Override
        public void onNext(String text) {
            super.onNext(text);
            answer.onNext("heard " + text);
        }
    }
}
