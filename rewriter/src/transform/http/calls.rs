//! Which calls make a request by HTTP, or serve one: of `java.net.http`, `URLConnection`, `URL`, OkHttp, Apache
//! HttpClient 4 and 5, servlets and their filters; and which method serves it, of Jersey.

use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{INVOKEINTERFACE, INVOKEVIRTUAL};
use crate::transform::call_sites::MEMBER;
use crate::transform::operands::{Above, parameters};

const CONNECTIONS: [&[u8]; 3] =
    [b"java/net/URLConnection", b"java/net/HttpURLConnection", b"javax/net/ssl/HttpsURLConnection"];

/// Internal names of classes of requests that do not change.
pub(in crate::transform) const JDK_REQUEST: &[u8] = b"java/net/http/HttpRequest";
const OKHTTP_REQUEST: &[u8] = b"okhttp3/Request";

const VIRTUAL: &[u8] = &[INVOKEVIRTUAL];
const HAS_RECEIVER: &[u8] = &[INVOKEVIRTUAL, INVOKEINTERFACE];

/// A call that has to do with a request. Operands are given from the lowest on, without the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::transform) enum HttpCall {
    /// It sends a request that knows where it goes, of this class; others are above it.
    Request { class: &'static [u8], above: Above },
    /// It sends a request to a host, which are two operands; one more is above them.
    Target,
    /// It reads from its receiver, a connection or an address.
    Read,
    /// It opens its receiver, a connection.
    Opened,
    /// It writes a request, its operand, to its receiver, or to the connection of that.
    Written,
    /// It tells its receiver, which knows the route of a request, which method serves that.
    Routed,
    /// It hands request and response to a servlet.
    Served,
    /// It hands them to a filter, with the rest of the chain above them.
    Filtered,
}

/// What a call of `method` has to do with a request, and the instructions that make it.
pub(in crate::transform) fn call_of(method: &MemberRef<'_>) -> Option<(HttpCall, &'static [u8])> {
    let parameters = parameters(method)?;
    match (method.class, method.name) {
        (b"java/net/http/HttpClient", b"send" | b"sendAsync") => {
            let above = Above::of(parameters.strip_prefix(b"Ljava/net/http/HttpRequest;")?)?;
            Some((HttpCall::Request { class: JDK_REQUEST, above }, VIRTUAL))
        }
        // Where a call, whichever thread makes it, begins with its interceptors.
        (b"okhttp3/internal/http/RealInterceptorChain", b"proceed") if parameters == b"Lokhttp3/Request;" => {
            Some((HttpCall::Request { class: OKHTTP_REQUEST, above: Above::default() }, VIRTUAL))
        }
        // Whatever class is named, of these: all ways to send a request lead here.
        (_, b"doExecute") if executes(parameters) => Some((HttpCall::Target, VIRTUAL)),
        // Whatever class is named, of Apache HttpClient: no other method has such parameters.
        (_, b"sendRequestHeader") if writes(parameters) => Some((HttpCall::Written, HAS_RECEIVER)),
        (b"okhttp3/internal/connection/Exchange", b"writeRequestHeaders")
            if parameters == b"Lokhttp3/Request;" =>
        {
            Some((HttpCall::Written, VIRTUAL))
        }
        // Of Jersey 2 and 3: what the request's path was compared with is known.
        (b"org/glassfish/jersey/server/internal/routing/RoutingContext", b"setEndpoint")
            if parameters == b"Lorg/glassfish/jersey/server/internal/process/Endpoint;" =>
        {
            Some((HttpCall::Routed, HAS_RECEIVER))
        }
        (b"java/net/URL", b"openStream") if parameters.is_empty() => Some((HttpCall::Read, VIRTUAL)),
        (class, b"getInputStream" | b"getResponseCode")
            if parameters.is_empty() && CONNECTIONS.contains(&class) =>
        {
            Some((HttpCall::Read, VIRTUAL))
        }
        (class, b"connect" | b"getOutputStream") if parameters.is_empty() && CONNECTIONS.contains(&class) => {
            Some((HttpCall::Opened, VIRTUAL))
        }
        // Whatever class is named: no other method has such parameters.
        (_, b"service") if serves(parameters) => Some((HttpCall::Served, MEMBER)),
        (_, b"doFilter") if filters(parameters) => Some((HttpCall::Filtered, MEMBER)),
        _ => None,
    }
}

/// Whether they are those of the method of Apache HttpClient that sends a request.
fn executes(parameters: &[u8]) -> bool {
    const OF_EXECUTE: [&[u8]; 2] = [
        b"Lorg/apache/http/HttpHost;Lorg/apache/http/HttpRequest;Lorg/apache/http/protocol/HttpContext;",
        b"Lorg/apache/hc/core5/http/HttpHost;Lorg/apache/hc/core5/http/ClassicHttpRequest;Lorg/apache/hc/core5/http/protocol/HttpContext;",
    ];
    OF_EXECUTE.contains(&parameters)
}

/// Whether they are those of the method of its connections that writes the first lines of a request.
fn writes(parameters: &[u8]) -> bool {
    [&b"Lorg/apache/http/HttpRequest;"[..], b"Lorg/apache/hc/core5/http/ClassicHttpRequest;"]
        .contains(&parameters)
}

/// Whether they are those of a servlet's `service`.
fn serves(parameters: &[u8]) -> bool {
    const OF_SERVICE: [&[u8]; 4] = [
        b"Ljavax/servlet/ServletRequest;Ljavax/servlet/ServletResponse;",
        b"Ljavax/servlet/http/HttpServletRequest;Ljavax/servlet/http/HttpServletResponse;",
        b"Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;",
        b"Ljakarta/servlet/http/HttpServletRequest;Ljakarta/servlet/http/HttpServletResponse;",
    ];
    OF_SERVICE.contains(&parameters)
}

/// Whether they are those of a filter's `doFilter`.
fn filters(parameters: &[u8]) -> bool {
    const OF_FILTER: [&[u8]; 2] = [
        b"Ljavax/servlet/ServletRequest;Ljavax/servlet/ServletResponse;Ljavax/servlet/FilterChain;",
        b"Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;Ljakarta/servlet/FilterChain;",
    ];
    OF_FILTER.contains(&parameters)
}
