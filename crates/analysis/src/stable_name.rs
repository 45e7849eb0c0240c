//! Names of methods that are the same in every run and build: without the numbers that compilers and generators of classes hand out.
//!
//! A name is `pkg.Class.method(descriptor)`. In it, in this order:
//!
//! 1. The suffix of a hidden class (`.0x..` or `/0x..` and the digits behind it) is left out: its number is that of a run.
//! 2. What generators put behind their mark ([`MARKS`]) becomes `*`: `$Proxy14` is `$Proxy*`, `Shop$$EnhancerBySpringCGLIB$$3f2a91` is
//!    `Shop$$EnhancerBySpringCGLIB$$*`.
//! 3. A number behind `$` becomes `*`. An identifier cannot begin with a digit, so a compiler made it: the anonymous class `Shop$1` and the
//!    local class `Shop$1Basket` are `Shop$*` and `Shop$*Basket`, `lambda$list$0` is `lambda$list$*`, `access$000` is `access$*`,
//!    `Shop$$Lambda$14` is `Shop$$Lambda$*`.
//!
//! So the lambdas of one method with one descriptor are one, and so are the anonymous classes of one class: which of them is the first
//! changes when another is added. Names in parentheses, as links have them, are treated in the same way.

use std::borrow::Cow;

/// Behind each of these is a generator's number; behind those that end in `$` it may have letters and `_`, too: proxies and accessors of the JDK, CGLIB (Spring), Byte Buddy
/// (Mockito, Hibernate), Groovy, Clojure, Jython.
const MARKS: [&str; 15] = [
    "$Proxy",
    "GeneratedMethodAccessor",
    "GeneratedConstructorAccessor",
    "GeneratedSerializationConstructorAccessor",
    "ByCGLIB$$",
    "SpringCGLIB$$",
    "FastClassBySpringCGLIB$$",
    "$ByteBuddy$",
    "$MockitoMock$",
    "$HibernateProxy$",
    "$auxiliary$",
    "$_closure",
    "$eval",
    "__",
    "._pyx",
];

/// What the marks begin with, and the suffix of a hidden class: most of a name is none of it.
const BEGINNINGS: &str = "$_GBSF./+";

/// The name without numbers of a run or a build; borrowed if it has none.
pub fn stable(name: &str) -> Cow<'_, str> {
    if !name.contains(['$', '_', '0']) && !MARKS.iter().any(|mark| name.contains(mark)) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    loop {
        let plain = rest.find(|c| BEGINNINGS.contains(c)).unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let Some(c) = rest.chars().next() else { break };
        if let Some(behind) = hidden_suffix(rest) {
            rest = behind;
            continue;
        }
        if let Some(mark) = MARKS.iter().find(|mark| mark.starts_with(c) && rest.starts_with(**mark)) {
            let is_name = mark.ends_with('$');
            let of_number =
                |c: char| c.is_ascii_digit() || is_name && (c.is_ascii_alphanumeric() || c == '_');
            let behind = rest[mark.len()..].trim_start_matches(of_number);
            if rest.len() > mark.len() + behind.len() {
                out.push_str(mark);
                out.push('*');
                rest = behind;
                continue;
            }
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
        if c == '$' && starts_with_digit(rest) {
            out.push('*');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    if out == name { Cow::Borrowed(name) } else { Cow::Owned(out) }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// What is behind the suffix of a hidden class, if one begins here.
fn hidden_suffix(text: &str) -> Option<&str> {
    let digits = ["/0x", ".0x", "+0x"].iter().find_map(|start| text.strip_prefix(start))?;
    let behind = digits.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    (digits.len() - behind.len() >= 4).then_some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_begins_otherwise() {
        assert!(MARKS.iter().all(|mark| mark.starts_with(|c| BEGINNINGS.contains(c))));
        assert!(["/0x", ".0x", "+0x"].iter().all(|start| start.starts_with(|c| BEGINNINGS.contains(c))));
    }

    #[test]
    fn numbers_of_compilers_and_generators_are_left_out() {
        for (name, expected) in [
            ("com.acme.Shop.price(Ljava/lang/String;)I", "com.acme.Shop.price(Ljava/lang/String;)I"),
            ("Shop$1.run()V", "Shop$*.run()V"),
            ("Shop$12$3Basket.run(LShop$12;)V", "Shop$*$*Basket.run(LShop$*;)V"),
            ("Shop.lambda$list$0(I)V", "Shop.lambda$list$*(I)V"),
            ("Shop.lambda$null$17(I)V", "Shop.lambda$null$*(I)V"),
            ("Shop.access$000(LShop;)I", "Shop.access$*(LShop;)I"),
            ("Shop$$Lambda$14.0x0000000800c03000.run()V", "Shop$$Lambda$*.run()V"),
            ("Shop$$Lambda/0x00007f1234567890.run()V", "Shop$$Lambda.run()V"),
            ("jdk.proxy2.$Proxy14.call()V", "jdk.proxy2.$Proxy*.call()V"),
            (
                "jdk.internal.reflect.GeneratedMethodAccessor3.invoke()V",
                "jdk.internal.reflect.GeneratedMethodAccessor*.invoke()V",
            ),
            ("Shop$$EnhancerBySpringCGLIB$$3f2a91c.list()V", "Shop$$EnhancerBySpringCGLIB$$*.list()V"),
            ("Shop$$SpringCGLIB$$0.list()V", "Shop$$SpringCGLIB$$*.list()V"),
            ("Shop$MockitoMock$Xy12z.list()V", "Shop$MockitoMock$*.list()V"),
            ("user$fn__1234.invoke()V", "user$fn__*.invoke()V"),
            ("org.python.pycode._pyx7.f$0()V", "org.python.pycode._pyx*.f$*()V"),
            ("(task of Shop.lambda$list$3()V)", "(task of Shop.lambda$list$*()V)"),
            // What people write stays.
            ("a.Sha256$Utf8Reader.read0()V", "a.Sha256$Utf8Reader.read0()V"),
            ("a.my__name.to_0x12()V", "a.my__name.to_0x12()V"),
            ("a.$Proxy.m()V", "a.$Proxy.m()V"),
            ("größe$1.€()V", "größe$*.€()V"),
        ] {
            assert_eq!(stable(name), expected);
            assert_eq!(stable(expected), expected, "twice");
        }
    }
}
