//! Method names with descriptors (JVMS 4.3.3), for people and for formats in which `;` has a meaning.

use std::borrow::Cow;

/// A type as class files know it: the internal name of a class, or `int`; and the dimensions of its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type<'a> {
    pub(crate) element: &'a [u8],
    pub(crate) dimensions: usize,
}

/// `Shop.price(Ljava/lang/String;[I)V` as `Shop.price(java.lang.String,int[])`; none for names without a descriptor.
/// Also of a method in the name of a link: `(task of Shop.run()V)` as `(task of Shop.run())`.
pub fn readable(name: &str) -> Option<String> {
    with_types(name, ",", |class| class.replace('/', "."))
}

/// The same as `Shop.price(String, int[])`.
pub fn brief(name: &str) -> Option<String> {
    with_types(name, ", ", |class| class.rsplit('/').next().unwrap_or(class).to_owned())
}

/// The simple type that a method returns: `Item`; none for names without a descriptor.
pub fn returned(name: &str) -> Option<String> {
    let (_, class) = name.split_once('(')?.1.rsplit_once(')')?;
    if class == "V" {
        return Some("void".to_owned());
    }
    let simple = |class: &str| class.rsplit('/').next().unwrap_or(class).to_owned();
    first_type(class, simple).filter(|(_, rest)| rest.is_empty()).map(|(class, _)| class)
}

/// Class, name and descriptor of `pkg.Class.method(desc)`. What is no method of a class, such as the text of a
/// statement, is a name alone: it has a blank where a package or class would be.
pub fn parts(name: &str) -> (&str, &str, &str) {
    let (head, descriptor) = name.split_at(name.find('(').unwrap_or(name.len()));
    let first = head.strip_prefix("call ").unwrap_or(head).split('.').next().unwrap_or_default();
    if first.contains(' ') {
        return ("", name, "");
    }
    let (class, method) = head.rsplit_once('.').filter(|(class, _)| !class.is_empty()).unwrap_or(("", head));
    (class, method, descriptor)
}

/// What a value is of that calls are split by: the text of a statement, an address, a file; none: it is the name of
/// something else.
pub fn value_kind(name: &str) -> Option<&'static str> {
    ["SQL ", "HTTP ", "FILE "].into_iter().find(|kind| name.starts_with(kind))
}

/// A class as `Class.getName()` gives it, as Java writes it: `[I` is `int[]`.
pub fn java_class(name: &str) -> Cow<'_, str> {
    if !name.starts_with('[') {
        return Cow::Borrowed(name);
    }
    let array = first_type(name, str::to_owned).filter(|(_, rest)| rest.is_empty());
    array.map_or(Cow::Borrowed(name), |(array, _)| Cow::Owned(array))
}

/// The parameters of a descriptor, without its parentheses, as Java writes them; `None`: it is none.
pub(crate) fn parameters(mut inside: &str) -> Option<Vec<String>> {
    let mut types = Vec::new();
    while !inside.is_empty() {
        let (one, rest) = first_type(inside, |class| class.replace('/', "."))?;
        types.push(one);
        inside = rest;
    }
    Some(types)
}

/// The same from class files (JVMS 4.3.3), where names are Modified UTF-8. Ends with `None` where no type begins.
pub(crate) fn types(mut inside: &[u8]) -> impl Iterator<Item = Option<Type<'_>>> {
    std::iter::from_fn(move || {
        if inside.is_empty() {
            return None;
        }
        let dimensions = inside.iter().take_while(|&&b| b == b'[').count();
        let one = &inside[dimensions..];
        let (element, length) = match one.first() {
            Some(b'L') => match one.iter().position(|&b| b == b';') {
                Some(end) => (Some(&one[1..end]), end + 1),
                None => (None, one.len()),
            },
            letter => (letter.and_then(|letter| primitive(*letter)).map(str::as_bytes), one.len().min(1)),
        };
        inside = if element.is_some() { &one[length..] } else { &[] };
        Some(element.map(|element| Type { element, dimensions }))
    })
}

fn with_types(name: &str, separator: &str, class: fn(&str) -> String) -> Option<String> {
    if let Some(of_link) = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')) {
        return with_types(of_link, separator, class).map(|method| format!("({method})"));
    }
    let (method, descriptor) = name.split_once('(')?;
    let (mut parameters, returned) = descriptor.rsplit_once(')')?;
    if returned != "V" {
        first_type(returned, class).filter(|(_, rest)| rest.is_empty())?;
    }
    let mut types = Vec::new();
    while !parameters.is_empty() {
        let (one, rest) = first_type(parameters, class)?;
        types.push(one);
        parameters = rest;
    }
    Some(format!("{method}({})", types.join(separator)))
}

/// A field descriptor (JVMS 4.3.2), and what lies behind it.
fn first_type(text: &str, class: fn(&str) -> String) -> Option<(String, &str)> {
    let element = text.trim_start_matches('[');
    let dimensions = text.len() - element.len();
    let (name, rest) = match element.as_bytes().first()? {
        b'L' => element[1..].split_once(';').map(|(name, rest)| (class(name), rest))?,
        letter => (primitive(*letter)?.to_owned(), &element[1..]),
    };
    Some((name + &"[]".repeat(dimensions), rest))
}

fn primitive(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'B' => "byte",
        b'C' => "char",
        b'D' => "double",
        b'F' => "float",
        b'I' => "int",
        b'J' => "long",
        b'S' => "short",
        b'Z' => "boolean",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_method_has_no_class() {
        for (name, expected) in [
            ("p.q.Shop.price(I)V", ("p.q.Shop", "price", "(I)V")),
            ("call p.Shop.price(I)V", ("call p.Shop", "price", "(I)V")),
            ("p.ShopTest.returns the price()V", ("p.ShopTest", "returns the price", "()V")),
            ("price()V", ("", "price", "()V")),
            ("SQL select i.name from a.item i", ("", "SQL select i.name from a.item i", "")),
            ("SQL insert into a.b (c) values (?)", ("", "SQL insert into a.b (c) values (?)", "")),
            ("HTTP GET http://a.b/c.d(e)", ("", "HTTP GET http://a.b/c.d(e)", "")),
            ("FILE read a.b/c-?.csv", ("", "FILE read a.b/c-?.csv", "")),
            ("", ("", "", "")),
        ] {
            assert_eq!(parts(name), expected);
        }
    }

    #[test]
    fn values_are_told_from_methods() {
        for (name, expected) in [
            ("SQL (others)", Some("SQL ")),
            ("HTTP GET /items/?", Some("HTTP ")),
            ("FILE read part-?.csv", Some("FILE ")),
            ("SQL.read()V", None),
            ("a.SQL read()V", None),
        ] {
            assert_eq!(value_kind(name), expected, "{name}");
        }
    }

    #[test]
    fn arrays_are_written_as_java_does() {
        for (name, expected) in [
            ("[I", "int[]"),
            ("[[Ljava.lang.String;", "java.lang.String[][]"),
            ("java.lang.String", "java.lang.String"),
            ("[", "["),
            ("[L", "[L"),
            ("[II", "[II"),
        ] {
            assert_eq!(java_class(name), expected);
        }
    }

    #[test]
    fn descriptors_become_types() {
        for (name, expected) in [
            (
                "Shop.price(Ljava/lang/String;[I[[Lp/Q$R;J)V",
                Some("Shop.price(java.lang.String,int[],p.Q$R[][],long)"),
            ),
            ("Shop.<init>()V", Some("Shop.<init>()")),
            ("Shop.all()[Lp/Q;", Some("Shop.all()")),
            ("(running Shop.main([Ljava/lang/String;)V)", Some("(running Shop.main(java.lang.String[]))")),
            ("(task of Shop.run()V)", Some("(task of Shop.run())")),
            ("(remote calls)", None),
            ("()", None),
            ("(x)", None),
            ("a b", None),
            ("void f()const", None),
            ("operator()(int)", None),
            ("x(L)V", None),
            ("x([)V", None),
            ("x(ü)V", None),
            ("x(", None),
        ] {
            assert_eq!(readable(name).as_deref(), expected, "{name}");
            let simple =
                expected.map(|e| e.replace("java.lang.", "").replace("p.Q$R", "Q$R").replace(',', ", "));
            assert_eq!(brief(name), simple, "{name}");
        }
    }
}
