//! Method names with descriptors (JVMS 4.3.3), for formats in which `;` has a meaning.

/// `Shop.price(Ljava/lang/String;[I)V` as `Shop.price(java.lang.String,int[])`; none for names without a descriptor.
pub(super) fn readable(name: &str) -> Option<String> {
    let (method, descriptor) = name.split_once('(')?;
    let (mut parameters, returned) = descriptor.rsplit_once(')')?;
    if returned != "V" {
        first_type(returned).filter(|(_, rest)| rest.is_empty())?;
    }
    let mut types = Vec::new();
    while !parameters.is_empty() {
        let (one, rest) = first_type(parameters)?;
        types.push(one);
        parameters = rest;
    }
    Some(format!("{method}({})", types.join(",")))
}

/// A field descriptor (JVMS 4.3.2), and what lies behind it.
fn first_type(text: &str) -> Option<(String, &str)> {
    let element = text.trim_start_matches('[');
    let dimensions = text.len() - element.len();
    let (name, rest) = match element.as_bytes().first()? {
        b'L' => element[1..].split_once(';')?,
        letter => (primitive(*letter)?, &element[1..]),
    };
    Some((name.replace('/', ".") + &"[]".repeat(dimensions), rest))
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
    fn descriptors_become_types() {
        for (name, expected) in [
            (
                "Shop.price(Ljava/lang/String;[I[[Lp/Q$R;J)V",
                Some("Shop.price(java.lang.String,int[],p.Q$R[][],long)"),
            ),
            ("Shop.<init>()V", Some("Shop.<init>()")),
            ("Shop.all()[Lp/Q;", Some("Shop.all()")),
            ("a b", None),
            ("void f()const", None),
            ("operator()(int)", None),
            ("x(L)V", None),
            ("x([)V", None),
            ("x(ü)V", None),
            ("x(", None),
        ] {
            assert_eq!(readable(name).as_deref(), expected, "{name}");
        }
    }
}
