import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** What clients and servers of gRPC have in common here: four methods whose messages are texts, and what they say of each call. */
class Remote {
    static final Metadata.Key<String> HEADER = Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);
    static final Metadata.Key<String> NONCE = Metadata.Key.of("nonce", Metadata.ASCII_STRING_MARSHALLER);
    static final MethodDescriptor<String, String> UNARY = method(MethodDescriptor.MethodType.UNARY, "Ask");
    static final MethodDescriptor<String, String> DOWN = method(MethodDescriptor.MethodType.SERVER_STREAMING, "Read");
    static final MethodDescriptor<String, String> UP = method(MethodDescriptor.MethodType.CLIENT_STREAMING, "Write");
    static final MethodDescriptor<String, String> BOTH = method(MethodDescriptor.MethodType.BIDI_STREAMING, "Talk");
    static final MethodDescriptor<String, String> NOWHERE = method(MethodDescriptor.MethodType.UNARY, "Nowhere");
    private static final StringBuilder SAID = new StringBuilder();

    private static MethodDescriptor<String, String> method(MethodDescriptor.MethodType type, String name) {
        return MethodDescriptor.<String, String>newBuilder()
            .setType(type)
            .setFullMethodName(MethodDescriptor.generateFullMethodName("hop.Hops", name))
            .setRequestMarshaller(new Texts())
            .setResponseMarshaller(new Texts())
            .build();
    }

    static void said(String side, String method, String nonce, String header) {
        synchronized (SAID) {
            SAID.append(side + " grpc " + method + ' ' + nonce + ' ' + header + '\n');
        }
    }

    static void tell() {
        synchronized (SAID) {
            System.out.print(SAID);
        }
    }

    private static final class Texts implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String text) {
            return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
