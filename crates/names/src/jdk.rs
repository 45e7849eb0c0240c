//! Which classes are the JDK's, by name: for the time when nobody knows yet who will load them.
//!
//! The packages of the modules of JDK 11 to 25. Others share some of their first names (`javax.servlet`,
//! `com.sun.mail`), so the lists name what is below those. And which classes it makes itself.

/// Below each of these everything is the JDK's.
const WHOLE: [&str; 8] = [
    "java/",
    "jdk/",
    "sun/",
    "org/ietf/jgss/",
    "org/w3c/dom/",
    "org/xml/sax/",
    "netscape/javascript/",
    "org/jcp/xml/dsig/internal/",
];
/// Below `javax/`.
const JAVAX: [&str; 27] = [
    "accessibility/",
    "annotation/processing/",
    "crypto/",
    "imageio/",
    "lang/model/",
    "management/",
    "naming/",
    "net/",
    "print/",
    "rmi/ssl/",
    "script/",
    "security/auth/",
    "security/cert/",
    "security/sasl/",
    "smartcardio/",
    "sound/midi/",
    "sound/sampled/",
    "sql/",
    "swing/",
    "tools/",
    "transaction/xa/",
    "xml/catalog/",
    "xml/crypto/",
    "xml/datatype/",
    "xml/namespace/",
    "xml/parsers/",
    "xml/stream/",
];
/// Also below `javax/xml/`.
const JAVAX_XML: [&str; 3] = ["transform/", "validation/", "xpath/"];
/// Below `com/sun/`.
const COM_SUN: [&str; 21] = [
    "beans/",
    "crypto/provider/",
    "imageio/",
    "jarsigner/",
    "java/",
    "java_cup/",
    "jdi/",
    "jmx/",
    "jndi/",
    "management/",
    "media/sound/",
    "naming/internal/",
    "net/httpserver/",
    "net/ssl/",
    "nio/",
    "org/apache/",
    "rowset/",
    "security/",
    "source/",
    "swing/",
    "tools/",
];

/// Whether a class (internal name) is one of the JDK's.
pub fn has(class: &[u8]) -> bool {
    let below = |first: &str, rest: &[&str]| {
        class.strip_prefix(first.as_bytes()).is_some_and(|class| starts_with_any(class, rest))
    };
    starts_with_any(class, &WHOLE)
        || below("javax/", &JAVAX)
        || below("javax/xml/", &JAVAX_XML)
        || class == b"javax/xml/XMLConstants"
        || below("com/sun/", &COM_SUN)
}

/// Classes that are made while the program runs: by the JDK proxies (`$Proxy7`), accessors and lambdas, by CGLIB, which
/// Spring has, proxies of classes (`Shop$$SpringCGLIB$$0`). They are named after nothing that anybody wrote, and there
/// may be any number of them. (Hidden classes do not come to the hook; the same rule says which of them are worth a
/// word.)
pub fn is_generated(class: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 5] =
        [b"jdk/internal/reflect/", b"sun/reflect/", b"java/lang/invoke/", b"com/sun/proxy/", b"jdk/proxy"];
    let simple = class.rsplit(|&byte| byte == b'/').next().unwrap_or(class);
    let proxy = simple.strip_prefix(b"$Proxy");
    PREFIXES.iter().any(|prefix| class.starts_with(prefix))
        || proxy.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
        || class.windows(9).any(|part| part == b"$$Lambda$" || part == b"$$Lambda/")
        || class.ends_with(b"$$Lambda")
        || class.windows(7).any(|part| part == b"CGLIB$$")
        || class.ends_with(b"$$TypeSwitch")
}

fn starts_with_any(class: &[u8], prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| class.starts_with(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_others_share_are_distinguished() {
        for class in [
            "java/lang/String",
            "javax/sql/DataSource",
            "javax/xml/transform/Source",
            "org/w3c/dom/Node",
            "com/sun/net/httpserver/HttpServer",
            "jdk/jfr/Event",
        ] {
            assert!(has(class.as_bytes()), "{class}");
        }
        for class in [
            "javax/servlet/Servlet",
            "javax/xml/bind/JAXB",
            "javax/annotation/Nullable",
            "javax/transaction/Transaction",
            "com/sun/mail/smtp/SMTPTransport",
            "com/sun/jna/Native",
            "org/xml/Other",
            "javas/Script",
        ] {
            assert!(!has(class.as_bytes()), "{class}");
        }
    }

    #[test]
    fn names_tell_what_is_generated() {
        for class in [
            "com/sun/proxy/$Proxy3",
            "jdk/proxy2/$Proxy12",
            "com/acme/$Proxy0",
            "jdk/internal/reflect/GeneratedMethodAccessor17",
            "com/acme/Foo$$Lambda$14/0x0000000800c03000",
            "com/acme/Foo$$Lambda/0x0000000800c03000",
            "java/lang/invoke/LambdaForm$MH",
            "com/acme/Shop$$SpringCGLIB$$0",
            "com/acme/Shop$$EnhancerBySpringCGLIB$$3f2a91c",
        ] {
            assert!(is_generated(class.as_bytes()), "{class}");
        }
        for class in
            ["com/acme/$Proxy", "com/acme/$ProxyFactory", "com/acme/Foo$Lambda", "jdk/jfr/Event", "A"]
        {
            assert!(!is_generated(class.as_bytes()), "{class}");
        }
    }
}
