//! What transforms tell of besides the methods that they are in, and which classes have it, as far as their constant pools tell.

use super::{Transforms, may_be_beside};
use crate::class_file::ConstantPool;

/// So much of a class file follows its constant pool at least.
const BEHIND: usize = 4;

impl Transforms {
    /// Those of these that tell of something else than the method that they are in: of arrays and copies, and of requests and calls between
    /// processes.
    pub fn beside(&self) -> Self {
        Self {
            array_allocation: self.array_allocation,
            remote_http: self.remote_http,
            remote_grpc: self.remote_grpc,
            remote_jms: self.remote_jms,
            ..Self::NONE
        }
    }

    /// Whether requests, calls by gRPC or messages are among them.
    pub fn has_requests(&self) -> bool {
        self.remote_http || self.remote_grpc || self.remote_jms
    }

    /// Whether a class with this constant pool may have something of [these](Self::beside). `pool`: a class file from `constant_pool_count`
    /// on, or the part of one that ends four bytes behind the pool or later. A pool that cannot be read may name anything.
    pub fn may_be_beside(&self, pool: &[u8]) -> bool {
        match ConstantPool::parse(pool, 0, Vec::new()) {
            Ok(read) if read.end() + BEHIND <= pool.len() => may_be_beside(&self.beside(), &read),
            Ok(_) | Err(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUESTS: Transforms = Transforms { remote_http: true, ..Transforms::NONE };

    /// `constant_pool_count` and entries, with what is behind them.
    fn pool(count: u16, entries: &[&[u8]]) -> Vec<u8> {
        [&count.to_be_bytes()[..], &entries.concat(), &[0; BEHIND]].concat()
    }

    fn text(text: &str) -> Vec<u8> {
        [&[1, 0, text.len() as u8], text.as_bytes()].concat()
    }

    fn calls(class: &str, name: &str, descriptor: &str) -> Vec<u8> {
        let entries = [&[10, 0, 2, 0, 4][..], &[7, 0, 3], &text(class), &[12, 0, 5, 0, 6]];
        pool(7, &[entries.concat().as_slice(), &text(name), &text(descriptor)])
    }

    #[test]
    fn a_constant_pool_tells_whether_requests_may_be_made_or_served() {
        let servlet = "(Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;)V";
        let routing = "org/glassfish/jersey/server/internal/routing/RoutingContext";
        let endpoint = "(Lorg/glassfish/jersey/server/internal/process/Endpoint;)V";
        let handler = text("(Lcom/sun/net/httpserver/HttpExchange;)V");
        let field = text("Lcom/sun/net/httpserver/HttpExchange;");
        for (pool, wanted) in [
            (calls("java/net/URL", "openStream", "()Ljava/io/InputStream;"), true),
            (calls("com/acme/Any", "service", servlet), true),
            (calls("com/acme/Any", "sendRequestHeader", "(Lorg/apache/http/HttpRequest;)V"), true),
            (calls(routing, "setEndpoint", endpoint), true),
            (calls("java/net/URL", "getPath", "()Ljava/lang/String;"), false),
            (calls("com/acme/Any", "service", "()V"), false),
            (calls("com/acme/Any", "sendRequestHeader", "()V"), false),
            (pool(2, &[&handler]), true),
            (pool(2, &[&field]), false),
            (pool(1, &[]), false),
        ] {
            assert_eq!(REQUESTS.may_be_beside(&pool), wanted, "{}", pool.escape_ascii());
        }
    }

    #[test]
    fn a_constant_pool_tells_whether_a_class_of_grpc_is_told_of() {
        let only = Transforms { remote_grpc: true, ..Transforms::NONE };
        let start = calls(
            "io/grpc/ServerCallHandler",
            "startCall",
            "(Lio/grpc/ServerCall;Lio/grpc/Metadata;)Lio/grpc/ServerCall$Listener;",
        );
        for (pool, wanted) in [
            (start, true),
            (pool(2, &[&text("io/grpc/internal/ClientCallImpl")]), true),
            (pool(2, &[&text("io/grpc/ClientCall")]), false),
            (calls("java/net/URL", "openStream", "()Ljava/io/InputStream;"), false),
        ] {
            assert_eq!(only.may_be_beside(&pool), wanted, "{}", pool.escape_ascii());
        }
    }

    #[test]
    fn a_pool_does_not_tell_of_arrays_and_nothing_else_is_beside() {
        let nothing = pool(1, &[]);
        assert!(Transforms { array_allocation: true, ..Transforms::NONE }.may_be_beside(&nothing));
        let rest = Transforms {
            array_allocation: false,
            remote_http: false,
            remote_grpc: false,
            remote_jms: false,
            ..Transforms::ALL
        };
        assert!(!rest.may_be_beside(&calls("java/net/URL", "openStream", "()Ljava/io/InputStream;")));
    }

    #[test]
    fn what_cannot_be_read_may_name_anything() {
        let whole = calls("java/net/URL", "getPath", "()Ljava/lang/String;");
        for length in 0..whole.len() {
            assert!(REQUESTS.may_be_beside(&whole[..length]), "{length} bytes");
        }
        for tag in [0, 2, 13, 14, 21, 255] {
            assert!(REQUESTS.may_be_beside(&pool(2, &[&[tag, 0, 0, 0, 0]])), "tag {tag}");
        }
        // A long takes two indices, and a text may be said to be longer than it is.
        assert!(REQUESTS.may_be_beside(&pool(2, &[&[5, 0, 0, 0, 0, 0, 0, 0, 0]])));
        assert!(REQUESTS.may_be_beside(&pool(2, &[&[1, 0xff, 0xff, b'a', b'b']])));
        // Entries that lead nowhere are read, and name nothing.
        assert!(!REQUESTS.may_be_beside(&pool(2, &[&[10, 0xff, 0xff, 0, 1]])));
    }

    #[test]
    fn no_single_changed_byte_is_too_much() {
        let whole = calls("java/net/URL", "openStream", "()Ljava/io/InputStream;");
        let mut may = 0;
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = byte;
                may += usize::from(REQUESTS.may_be_beside(&changed));
            }
        }
        assert!(may > whole.len(), "{may}");
    }
}
