//! Whether a value of one type can be passed for a parameter of another.

use crate::class_file::mutf8;
use crate::transform::own_calls::absent::Absent;
use crate::transform::own_calls::places::kind;
use std::fmt;

/// What is known of classes.
pub trait Hierarchy: fmt::Debug + Send + Sync {
    /// Whether every object of `class` is one of `above` (internal names, modified UTF-8; neither is an array); none,
    /// if a class that matters is not known.
    fn is_subclass(&self, class: &[u8], above: &[u8]) -> Option<bool>;

    /// Whether the class that this thread rewrites finds the class `owner` (internal name), whose method a rule calls.
    ///
    /// # Errors
    /// Why it does not; its places are left for this reason.
    fn finds(&self, _owner: &str) -> Result<(), Absent> {
        Ok(())
    }
}

/// Whether a value of the type `passed` is one of the type `parameter`, by field descriptors; none, if that is not
/// known. Nothing is converted: of numbers, only those fit that are the same on the stack of the JVM.
pub(super) fn fits(passed: &[u8], parameter: &[u8], hierarchy: &dyn Hierarchy) -> Option<bool> {
    if passed == parameter {
        return Some(true);
    }
    if kind(passed) != kind(parameter) {
        return Some(false);
    }
    match (passed, parameter) {
        (b"B", b"S" | b"I") | (b"S" | b"C", b"I") | (_, b"Ljava/lang/Object;") => Some(true),
        ([b'[', of @ ..], [b'[', wanted @ ..]) => {
            let is_reference = |of: &[u8]| kind(of) == 4;
            if is_reference(of) && is_reference(wanted) { fits(of, wanted, hierarchy) } else { Some(false) }
        }
        ([b'[', ..], b"Ljava/lang/Cloneable;" | b"Ljava/io/Serializable;") => Some(true),
        ([b'[', ..], _) | (_, [b'[', ..]) => Some(false),
        ([b'L', of @ .., b';'], [b'L', wanted @ .., b';']) => hierarchy.is_subclass(of, wanted),
        _ => Some(false),
    }
}

/// A field descriptor as Java writes it: `int[]`, `java.lang.String`.
pub(super) fn java_type(descriptor: &[u8]) -> String {
    let element = descriptor.iter().take_while(|&&byte| byte == b'[').count();
    let name = match &descriptor[element..] {
        [b'L', name @ .., b';'] => mutf8::escape(name).replace('/', "."),
        b"B" => "byte".to_owned(),
        b"C" => "char".to_owned(),
        b"D" => "double".to_owned(),
        b"F" => "float".to_owned(),
        b"I" => "int".to_owned(),
        b"J" => "long".to_owned(),
        b"S" => "short".to_owned(),
        b"Z" => "boolean".to_owned(),
        other => mutf8::escape(other),
    };
    name + &"[]".repeat(element)
}

/// `(int, java.lang.String)`.
pub(super) fn java_types<'t>(types: impl Iterator<Item = &'t [u8]>) -> String {
    format!("({})", types.map(java_type).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a/B` extends `a/A`; nothing else is known.
    #[derive(Debug)]
    struct Two;

    impl Hierarchy for Two {
        fn is_subclass(&self, class: &[u8], above: &[u8]) -> Option<bool> {
            match (class, above) {
                (b"a/B", b"a/A") => Some(true),
                (b"a/A" | b"a/B", _) => Some(false),
                _ => None,
            }
        }
    }

    #[test]
    fn types_fit_as_on_the_stack_of_the_jvm() {
        for (passed, parameter, expected) in [
            ("I", "I", Some(true)),
            ("B", "I", Some(true)),
            ("C", "I", Some(true)),
            ("Z", "I", Some(false)),
            ("I", "Z", Some(false)),
            ("I", "J", Some(false)),
            ("J", "D", Some(false)),
            ("F", "D", Some(false)),
            ("I", "Ljava/lang/Object;", Some(false)),
            ("La/B;", "Ljava/lang/Object;", Some(true)),
            ("La/B;", "La/A;", Some(true)),
            ("La/A;", "La/B;", Some(false)),
            ("Lx/Y;", "La/A;", None),
            ("[I", "Ljava/lang/Object;", Some(true)),
            ("[I", "Ljava/lang/Cloneable;", Some(true)),
            ("[I", "[J", Some(false)),
            ("[La/B;", "[La/A;", Some(true)),
            ("[La/B;", "[[La/A;", Some(false)),
            ("[[I", "[Ljava/lang/Object;", Some(true)),
            ("[I", "[Ljava/lang/Object;", Some(false)),
            ("[I", "La/A;", Some(false)),
            ("La/A;", "[I", Some(false)),
        ] {
            assert_eq!(
                fits(passed.as_bytes(), parameter.as_bytes(), &Two),
                expected,
                "{passed} for {parameter}"
            );
        }
    }

    #[test]
    fn types_are_printed_as_java_writes_them() {
        let types = [&b"I"[..], b"[[J", b"Ljava/lang/String;"];
        assert_eq!(java_types(types.into_iter()), "(int, long[][], java.lang.String)");
    }
}
