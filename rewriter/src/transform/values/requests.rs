//! Which calls make a request by HTTP, or serve one.

use super::What;
use crate::class_file::constant_pool::MemberRef;
use crate::code::hooks::Hook;
use crate::transform::http::calls::{self, HttpCall};
use crate::transform::operands::Above;

/// What a call of `method` has to do with a request, and the instructions that make it.
pub(super) fn call_of(method: &MemberRef<'_>) -> Option<(What, &'static [u8])> {
    let (call, by) = calls::call_of(method)?;
    let (hook, above) = match call {
        HttpCall::Request { class: calls::JDK_REQUEST, above } => (Hook::RequestMade, above),
        HttpCall::Read => (Hook::ConnectionRead, Above::default()),
        HttpCall::Opened => (Hook::ConnectionOpened, Above::default()),
        HttpCall::Served => (Hook::RequestServed, Above::objects(1)),
        HttpCall::Request { .. }
        | HttpCall::Target
        | HttpCall::Written
        | HttpCall::Routed
        | HttpCall::Filtered => return None,
    };
    Some((What::Enters { hook, copies: 1, above }, by))
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
        let [none, one, two] = [0, 1, 2].map(|count| move || Above::objects(count));
        for (class, name, parameters, expected) in [
            ("java/net/http/HttpClient", "send", with(&[REQUEST, HANDLER]), Some((Hook::RequestMade, one()))),
            (
                "java/net/http/HttpClient",
                "sendAsync",
                with(&[REQUEST, HANDLER, HANDLER]),
                Some((Hook::RequestMade, two())),
            ),
            ("java/net/http/HttpClient", "newWebSocketBuilder", String::new(), None),
            ("java/net/URLConnection", "connect", String::new(), Some((Hook::ConnectionOpened, none()))),
            (
                "java/net/HttpURLConnection",
                "getResponseCode",
                String::new(),
                Some((Hook::ConnectionRead, none())),
            ),
            ("java/net/JarURLConnection", "connect", String::new(), None),
            ("java/net/URL", "openStream", String::new(), Some((Hook::ConnectionRead, none()))),
            ("com/acme/Front", "service", jakarta.to_owned(), Some((Hook::RequestServed, one()))),
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
