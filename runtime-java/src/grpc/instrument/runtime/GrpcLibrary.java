package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;

/** How gRPC is asked about its calls. There is one for each class of gRPC's that an object is of. */
final class GrpcLibrary {
    private static final String METHOD = "io.grpc.MethodDescriptor";
    private static final ClassValue<Object> KNOWN = new ClassValue<Object>() {
        @Override
        protected Object computeValue(Class<?> type) {
            return Copy.held(new GrpcLibrary(type), null);
        }
    };

    /** A call of this class waits for its channel, and then makes another one. */
    final boolean isDelayed;
    private final Class<?> type;
    /** Of a call made: its method, which nothing but a field has. */
    private final MethodHandle method;
    private final MethodHandle methodServed;
    private final MethodHandle name;
    /** Of the listener of a server. */
    private final MethodHandle call;
    private final MethodHandle header;
    private final MethodHandle give;
    private final Object key;
    private final MethodHandle attributes;
    private final MethodHandle attribute;
    private final Object address;

    private GrpcLibrary(Class<?> type) {
        this.type = type;
        isDelayed = Asked.above(type, "io.grpc.internal.DelayedClientCall") != null;
        Class<?> client = Asked.above(type, "io.grpc.ClientCall");
        Class<?> server = Asked.above(type, "io.grpc.ServerCall");
        Class<?> metadata = find("io.grpc.Metadata");
        Class<?> keys = find("io.grpc.Metadata$Key");
        method = field(type, "method", METHOD);
        methodServed = server == null ? null : Asked.method(server, "getMethodDescriptor");
        name = of(find(METHOD), "getFullMethodName");
        call = field(type, "call", "io.grpc.ServerCall");
        header = of(metadata, "get", keys);
        give = of(metadata, "put", keys, Object.class);
        key = key(keys, constant(metadata, "ASCII_STRING_MARSHALLER"));
        attributes = client == null && server == null ? null : Asked.method(client == null ? server : client, "getAttributes");
        attribute = of(find("io.grpc.Attributes"), "get", find("io.grpc.Attributes$Key"));
        address = constant(find("io.grpc.Grpc"), "TRANSPORT_ATTR_REMOTE_ADDR");
    }

    static GrpcLibrary of(Object object) {
        return (GrpcLibrary) Copy.of(KNOWN.get(object.getClass()));
    }

    // ---- what objects of the class are asked ----

    /** The name of the method that a call made is of. */
    String made(Object call) {
        return name(Asked.ask(method, call));
    }

    /** The same of one that is served. */
    String served(Object call) {
        return name(Asked.ask(methodServed, call));
    }

    private String name(Object of) {
        Object text = Asked.ask(name, of);
        if (!(text instanceof String)) {
            throw new IllegalStateException(type.getName() + " does not tell its method: this version of gRPC is not known");
        }
        return (String) text;
    }

    /** The call that a listener of a server is of. */
    Object callOf(Object listener) {
        return Asked.ask(call, listener);
    }

    /** Who is at the other end, if that has an address; null: it is not known. */
    InetSocketAddress address(Object call) {
        Object known = address == null ? null : Asked.ask(attribute, Asked.ask(attributes, call), address);
        return known instanceof InetSocketAddress ? (InetSocketAddress) known : null;
    }

    /** The header in the metadata of a call. */
    String header(Object headers) {
        Object text = Asked.ask(header, headers, key);
        return text instanceof String ? (String) text : null;
    }

    /** Gives metadata a header. */
    void give(Object headers, String text) {
        Asked.ask(give, headers, key, text);
    }

    /** One more than the number of a status, so that 0 is none. */
    static int status(Object status) {
        Object code = status == null ? null : Asked.ask(Codes.OF.of(status), status);
        return code instanceof Enum ? ((Enum<?>) code).ordinal() + 1 : 0;
    }

    // ---- how they are found ----

    private Class<?> find(String name) {
        try {
            return Class.forName(name, false, type.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        } catch (LinkageError e) {
            return null;
        }
    }

    private static MethodHandle of(Class<?> type, String name, Class<?>... parameters) {
        return type == null ? null : Asked.method(type, name, parameters);
    }

    /** A field of a class or of one above it, if it is of a type. */
    private static MethodHandle field(Class<?> type, String name, String of) {
        try {
            for (Class<?> at = type; at != null; at = at.getSuperclass()) {
                for (Field field : at.getDeclaredFields()) {
                    if (field.getName().equals(name) && Asked.above(field.getType(), of) != null) {
                        field.setAccessible(true);
                        return MethodHandles.lookup().unreflectGetter(field).asType(MethodType.genericMethodType(1));
                    }
                }
            }
        } catch (IllegalAccessException e) {
            // Its module is closed to us.
        } catch (RuntimeException e) {
            // The same since Java 9.
        } catch (LinkageError e) {
            // Something that the class names is not there.
        }
        return null;
    }

    private static Object constant(Class<?> type, String name) {
        try {
            return type == null ? null : type.getField(name).get(null);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static Object key(Class<?> keys, Object marshaller) {
        try {
            for (java.lang.reflect.Method each : keys == null || marshaller == null ? new java.lang.reflect.Method[0] : keys.getMethods()) {
                Class<?>[] parameters = each.getParameterTypes();
                if (each.getName().equals("of") && parameters.length == 2 && parameters[1].isInstance(marshaller)) {
                    return each.invoke(null, TraceParent.HEADER, marshaller);
                }
            }
        } catch (ReflectiveOperationException e) {
            // There are no such headers.
        }
        return null;
    }

    /** How a status is asked for its code. */
    private static final class Codes extends ClassValue<Object> {
        static final Codes OF = new Codes();

        @Override
        protected Object computeValue(Class<?> type) {
            return Copy.held(new MethodHandle[] {Asked.method(type, "getCode")}, null);
        }

        MethodHandle of(Object status) {
            return ((MethodHandle[]) Copy.of(get(status.getClass())))[0];
        }
    }
}
