package instrument.runtime;

import java.net.HttpURLConnection;
import java.net.URL;
import java.util.concurrent.CompletableFuture;

/**
 * Requests by HTTP as remote calls of a thread, which is BUSY wherever this is told something. Whoever makes or serves one is given a number, 0 where
 * nothing is recorded, and tells the end by it. Clients call each other in layers, and containers dispatch what they serve again and again: a request within
 * one with the same method and path is a layer of it, and what is served within what is served is part of it.
 */
final class HttpCalls {
    /** For {@link ServedLinks}: all requests are of one object. */
    private static final long OBJECT = 0x68747470;

    private HttpCalls() {}

    // ---- requests made ----

    /** A request is about to be sent; to a target, where it does not say that itself. */
    static int made(RemoteCalls calls, Object request, Object target) {
        HttpLibrary library = HttpLibraries.of(request);
        if (library == null || calls.state.isPaused()) {
            return 0;
        }
        RemoteCall call = calls.push();
        HttpMessage message = call.message();
        library.read(request, target, message);
        message.library = library;
        message.request = request;
        int token = begin(calls, call, RemoteCall.HTTP_MADE);
        if (token != 0 && library.wire != null && library.wire.teller.tells) {
            call.flag(RemoteCall.UNSENT);
        }
        if (token != 0 && target != null) {
            withHeader(calls, call, request);
        }
        return token;
    }

    /** A connection or address of the JDK is about to be opened, or read. */
    static int connected(RemoteCalls calls, Object connection, boolean writes) {
        boolean isAddress = connection instanceof URL;
        // Whoever extends a class of the JDK has reasons of his own.
        boolean isConnection = connection instanceof HttpURLConnection && connection.getClass().getClassLoader() == null;
        if (isConnection) {
            Object known = HttpObjects.next(connection, writes);
            if (known == HttpObjects.DONE) {
                return 0;
            }
            if (known != null) {
                RemoteCall call = (RemoteCall) known;
                if (call.http.recording != Recording.number) {
                    return 0;
                }
                call.http.request = connection;
                calls.take(call);
                return call.http.token = calls.token();
            }
        }
        if (!isAddress && !isConnection || calls.state.isPaused()) {
            return 0;
        }
        URL url = isAddress ? (URL) connection : ((HttpURLConnection) connection).getURL();
        if (!"http".equalsIgnoreCase(url.getProtocol()) && !"https".equalsIgnoreCase(url.getProtocol())) {
            return 0;
        }
        RemoteCall call = calls.push();
        HttpMessage message = call.message();
        message.path(url.getPath());
        message.address(url.getProtocol(), url.getHost(), url.getPort());
        message.method = HttpMethods.name(HttpMethods.GET);
        if (!isAddress) {
            HttpURLConnection known = (HttpURLConnection) connection;
            message.request = known;
            String method = known.getRequestMethod();
            // So it will be, once the output is asked for.
            boolean isPost = "GET".equals(method) && writes && known.getDoOutput();
            message.method = isPost ? HttpMethods.name(HttpMethods.POST) : method;
            message.header = header(known);
        }
        int token = begin(calls, call, RemoteCall.HTTP_MADE);
        if (token != 0) {
            withHeader(calls, call, message.request);
            call.waits = writes;
        }
        return token;
    }

    /** A request is about to be written to a connection: perhaps one that was told of, or what it is sent as, perhaps once more. */
    static void written(RemoteCalls calls, Object carrier, Object request) {
        HttpLibrary library = HttpLibraries.of(request);
        if (library == null || library.wire == null || library.wire.teller == null) {
            return;
        }
        library.wire.teller.tells = true;
        int at = calls.depth - 1;
        if (at < 0 || calls.open[at].kind != RemoteCall.HTTP_MADE) {
            return;
        }
        HttpSaid said = new HttpSaid();
        library.read(request, null, said);
        if (said.method == null || said.path == null) {
            return;
        }
        int hash = HttpRoutes.hash(said.method, said.path);
        for (; at >= 0 && calls.open[at].kind == RemoteCall.HTTP_MADE; at--) {
            if (calls.open[at].http.hash == hash) {
                HttpConnections.sent(calls.open[at], library, request, carrier);
                return;
            }
        }
    }

    /** One that is connected already has sent its headers. */
    private static String header(HttpURLConnection connection) {
        try {
            return connection.getRequestProperty(TraceParent.HEADER);
        } catch (IllegalStateException e) {
            return null;
        }
    }

    /** The request to send: the one that was told of, or one with a header in its place. */
    static Object sent(RemoteCalls calls, Object request, int token) {
        int at = calls.find(token);
        return at < 0 ? request : withHeader(calls, calls.open[at], request);
    }

    /** Gives a request a header, if the user wants that and it has none; returns the request that has it. */
    private static Object withHeader(RemoteCalls calls, RemoteCall call, Object request) {
        HttpMessage message = call.http;
        if (!Recording.settings.propagate || message.header != null || request == null) {
            return request;
        }
        message.parent.renew(calls.within());
        String header = message.parent.text();
        Object other = message.library == null ? with((HttpURLConnection) request, header) : message.library.with(request, header);
        if (other == null) {
            return request;
        }
        call.key(message.parent);
        message.given = header;
        return other;
    }

    /** Null: it is too late for a header. */
    private static Object with(HttpURLConnection connection, String header) {
        try {
            connection.setRequestProperty(TraceParent.HEADER, header);
            return connection;
        } catch (IllegalStateException e) {
            return null;
        }
    }

    // ---- requests served ----

    /** A request is about to be handed to the program. */
    static int served(RemoteCalls calls, Object request, Object response) {
        HttpLibrary library = HttpLibraries.of(request);
        if (library == null || calls.last(RemoteCall.HTTP_SERVED) >= 0 || calls.state.isPaused() || !library.isFirst(request)) {
            return 0;
        }
        if (request == response && !HttpObjects.isNew(request)) {
            return 0;
        }
        RemoteCall call = calls.push();
        HttpMessage message = call.message();
        library.read(request, null, message);
        message.library = library;
        message.request = request;
        message.response = response;
        int token = begin(calls, call, RemoteCall.HTTP_SERVED);
        if (token != 0) {
            HttpConnections.served(call);
            calls.serve(call, ServedLinks.of(calls.state, OBJECT, call.method()));
        }
        return token;
    }

    /** The method that serves a request was found. What is routed within that, without a request of its own, has no part in its name. */
    static void routed(RemoteCalls calls, Object routing) {
        int at = calls.last(RemoteCall.HTTP_SERVED);
        HttpLibrary library = at < 0 ? null : HttpLibraries.of(routing);
        if (library == null || calls.open[at].http.isRouted) {
            return;
        }
        calls.open[at].http.isRouted = true;
        rename(calls.open[at], library.route(routing));
    }

    private static void rename(RemoteCall call, String route) {
        if (route != null) {
            call.rename(HttpRoutes.of(HttpMethods.number(call.http.method), route, true));
        }
    }

    // ---- both ----

    private static int begin(RemoteCalls calls, RemoteCall call, int kind) {
        HttpMessage message = call.http;
        int at = calls.depth - 1;
        if (message.path == null || message.method == null) {
            calls.remove(at);
            return 0;
        }
        message.hash = HttpRoutes.hash(message.method, message.path);
        for (int below = at - 1; below >= 0 && kind == RemoteCall.HTTP_MADE; below--) {
            RemoteCall outer = calls.open[below];
            if (outer.kind == RemoteCall.HTTP_SERVED) {
                // What serves a request makes requests of its own.
                break;
            }
            if (outer.kind == kind && outer.http.hash == message.hash && isSameHost(outer.http, message)) {
                calls.remove(at);
                return 0;
            }
        }
        RemoteLog.place(call);
        if (kind == RemoteCall.HTTP_MADE) {
            calls.cause(call);
        }
        call.request(HttpRoutes.of(HttpMethods.number(message.method), message.path, false), host(message.host));
        if (message.header != null) {
            if (message.parent.read(message.header)) {
                call.key(message.parent);
            } else {
                call.flag(RemoteCall.BAD_KEY);
            }
        }
        call.begin(kind, calls.thread());
        message.recording = Recording.number;
        return message.token = calls.token();
    }

    /** As far as both layers know it. */
    private static boolean isSameHost(HttpMessage outer, HttpMessage inner) {
        return outer.host == null || inner.host == null || outer.port == inner.port && outer.host.equalsIgnoreCase(inner.host);
    }

    private static int host(String host) {
        return host == null || host.isEmpty() ? 0 : RemoteClients.number(host);
    }

    /** It is over, with a response, an exception, or neither. */
    static void ended(RemoteCalls calls, int token, Object response, int status, Throwable exception, long now) {
        int at = calls.find(token);
        if (at < 0) {
            return;
        }
        calls.fail(at + 1, now);
        RemoteCall call = calls.open[at];
        HttpMessage message = call.http;
        if (message.given != null && message.library != null) {
            message.library.without(message.request, message.given);
        }
        if (exception == null && response instanceof CompletableFuture && call.kind == RemoteCall.HTTP_MADE) {
            calls.give(at);
            ((CompletableFuture<?>) response).whenComplete(new HttpAnswer(call));
            return;
        }
        if (exception == null && call.waits) {
            // Its response comes with another call.
            call.waits = false;
            calls.give(at);
            Object connection = message.request;
            // Or it would keep itself.
            message.request = null;
            HttpObjects.waits(connection, call);
            return;
        }
        call.status(status != 0 ? status : status(call, response, exception));
        if (call.kind == RemoteCall.HTTP_SERVED) {
            rename(call, message.library.route(message.request));
        }
        if (exception != null) {
            call.flag(RemoteCall.FAILED);
        }
        calls.leave(call);
        call.end(now);
        calls.remove(at);
    }

    private static int status(RemoteCall call, Object response, Throwable exception) {
        HttpMessage message = call.http;
        if (message.library == null) {
            return message.request != null && (exception == null || isAnswer(exception)) ? status((HttpURLConnection) message.request) : 0;
        }
        if (call.kind == RemoteCall.HTTP_SERVED) {
            // What an exception makes of the response comes later.
            return exception != null || message.library.goesOn(message.request) ? 0 : message.library.status(message.response);
        }
        return response == null ? 0 : message.library.status(response);
    }

    /** Whether a connection of the JDK throws this because it knows the status of the response. */
    private static boolean isAnswer(Throwable exception) {
        if (exception.getClass().getClassLoader() != null) {
            return false;
        }
        String text = exception.getMessage();
        return exception instanceof java.io.FileNotFoundException || text != null && text.startsWith("Server returned HTTP response code:");
    }

    private static int status(HttpURLConnection connection) {
        try {
            return HttpLibrary.number(connection.getResponseCode());
        } catch (java.io.IOException e) {
            return 0;
        }
    }
}
