//! Which calls make a request by HTTP, or serve one.

use super::{Above, MEMBER, VIRTUAL, What, parameters};
use crate::class_file::constant_pool::MemberRef;
use crate::code::hooks::Hook;

const CONNECTIONS: [&[u8]; 3] =
    [b"java/net/URLConnection", b"java/net/HttpURLConnection", b"javax/net/ssl/HttpsURLConnection"];

/// What a call of `method` has to do with a request, and the instructions that make it.
pub(super) fn call_of(method: &MemberRef<'_>) -> Option<(What, &'static [u8])> {
    let parameters = parameters(method)?;
    let enters = |hook, above| What::Enters { hook, copies: 1, above };
    let of_receiver = |hook| Some((enters(hook, Above::default()), VIRTUAL));
    let behind_request = || Above::of(parameters.strip_prefix(b"Ljava/net/http/HttpRequest;")?);
    match (method.class, method.name, parameters) {
        (b"java/net/http/HttpClient", b"send" | b"sendAsync", _) => {
            Some((enters(Hook::RequestMade, behind_request()?), VIRTUAL))
        }
        (b"java/net/URL", b"openStream", b"") => of_receiver(Hook::ConnectionRead),
        (class, b"getInputStream" | b"getResponseCode", b"") if CONNECTIONS.contains(&class) => {
            of_receiver(Hook::ConnectionRead)
        }
        (class, b"connect" | b"getOutputStream", b"") if CONNECTIONS.contains(&class) => {
            of_receiver(Hook::ConnectionOpened)
        }
        // Whatever class is named: no other method has such parameters.
        (_, b"service", _) if serves(parameters) => {
            Some((enters(Hook::RequestServed, Above { count: 1, ints: 0 }), MEMBER))
        }
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::Tag;

    #[test]
    fn calls_that_make_or_serve_requests_are_known() {
        const REQUEST: &str = "Ljava/net/http/HttpRequest;";
        const HANDLER: &str = "Ljava/net/http/HttpResponse$BodyHandler;";
        let with = |parameters: &[&str]| parameters.concat();
        let jakarta = "Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;";
        let none = Above::default();
        let one = Above { count: 1, ints: 0 };
        let two = Above { count: 2, ints: 0 };
        for (class, name, parameters, expected) in [
            ("java/net/http/HttpClient", "send", with(&[REQUEST, HANDLER]), Some((Hook::RequestMade, one))),
            (
                "java/net/http/HttpClient",
                "sendAsync",
                with(&[REQUEST, HANDLER, HANDLER]),
                Some((Hook::RequestMade, two)),
            ),
            ("java/net/http/HttpClient", "newWebSocketBuilder", String::new(), None),
            ("java/net/URLConnection", "connect", String::new(), Some((Hook::ConnectionOpened, none))),
            (
                "java/net/HttpURLConnection",
                "getResponseCode",
                String::new(),
                Some((Hook::ConnectionRead, none)),
            ),
            ("java/net/JarURLConnection", "connect", String::new(), None),
            ("java/net/URL", "openStream", String::new(), Some((Hook::ConnectionRead, none))),
            ("com/acme/Front", "service", jakarta.to_owned(), Some((Hook::RequestServed, one))),
            ("com/acme/Front", "service", "Lcom/acme/Order;".to_owned(), None),
        ] {
            let descriptor = format!("({parameters})V");
            let (tag, class, name) = (Tag::Methodref, class.as_bytes(), name.as_bytes());
            let found = call_of(&MemberRef { tag, class, name, descriptor: descriptor.as_bytes() });
            let found = found.map(|(what, _)| match what {
                What::Enters { hook, copies: 1, above } => (hook, above),
                other => panic!("{other:?}"),
            });
            assert_eq!(found, expected, "{}{descriptor}", String::from_utf8_lossy(name));
        }
    }
}
