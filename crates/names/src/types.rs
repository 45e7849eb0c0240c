//! Types in patterns: the parameters of methods, and the classes of objects with their arrays.
//!
//! | written | fits |
//! |---|---|
//! | `int`, `java.lang.String`, `java/util/Map$Entry`, `Map.Entry` | this type |
//! | `int[]`, `String[][]`, `String...` | arrays of exactly so many dimensions |
//! | `[I`, `[Ljava.lang.String;` | the same as `Class.getName()` gives it |
//! | `com.acme.**` | all classes of a package and those below it, and their arrays of any dimensions |
//! | `*` | every class of the package without a name; among the parameters of a method every type |

use crate::error::BadPattern;
use crate::glob::Glob;
use crate::signature::{self, Type};

/// A pattern of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypePattern {
    element: Glob,
    /// `None`: any number.
    dimensions: Option<usize>,
}

impl TypePattern {
    /// # Errors
    /// Why the text is no type.
    pub(crate) fn new(text: &str) -> Result<TypePattern, String> {
        let java = signature::java_class(text);
        let text = java.trim();
        let (element, dimensions) = match text.strip_suffix("...") {
            Some(element) => (element, 1),
            None => (text, 0),
        };
        let name = element.trim_end_matches("[]");
        let dimensions = dimensions + (element.len() - name.len()) / 2;
        check_class(name)?;
        let any = dimensions == 0 && name.ends_with("**");
        Ok(TypePattern { element: Glob::of_classes(name), dimensions: (!any).then_some(dimensions) })
    }

    /// Whether it is the whole name of the type.
    fn is(&self, one: Type<'_>) -> bool {
        self.dimensions.is_none_or(|dimensions| dimensions == one.dimensions)
            && self.element.matches(one.element)
    }

    /// Whether it is the name of the type, with or without the packages and classes that it lies in.
    fn ends(&self, one: Type<'_>) -> bool {
        if self.element.is_any() {
            return self.dimensions.is_none_or(|dimensions| dimensions == 0 || dimensions == one.dimensions);
        }
        let borders = one.element.iter().enumerate().filter(|(_, b)| b"/$".contains(b)).map(|(at, _)| at + 1);
        [0].into_iter()
            .chain(borders)
            .any(|at| self.is(Type { element: &one.element[at..], dimensions: one.dimensions }))
    }
}

/// Whether the text can be (a pattern of) the name of a class.
///
/// # Errors
/// Why it cannot.
pub fn check_class(class: &str) -> Result<(), String> {
    // None of these can stand in a class name (JVMS 4.2.1), but in other glob dialects and in descriptors.
    if let Some(c) = class.chars().find(|c| "[];{}()<>\\,".contains(*c)) {
        let hint = match c {
            '(' | ')' | '<' | '>' => "; a method is written `CLASS.METHOD(TYPES)` or `CLASS#METHOD`",
            '[' | ']' => "; an array is written `int[]`; only `*`, `**` and `?` are wildcards",
            _ => "; only `*`, `**` and `?` are wildcards",
        };
        return Err(format!("`{c}` cannot be part of a class name{hint}"));
    }
    if let Some(c) = class.chars().find(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("it contains {c:?}"));
    }
    if class.is_empty() {
        return Err("there is no class name".to_owned());
    }
    let separator = |c: Option<char>| matches!(c, Some('.' | '/'));
    let mut pairs = class.chars().zip(class.chars().skip(1));
    if separator(class.chars().next())
        || separator(class.chars().last())
        || pairs.any(|(a, b)| separator(Some(a)) && separator(Some(b)))
    {
        let package = class.trim_matches(['.', '/']);
        return Err(format!("a package name is empty; write `{package}.**` for all classes of a package"));
    }
    Ok(())
}

/// The parameters of methods that a pattern means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// Of the whole descriptor, as the class file has it.
    descriptor: Option<Glob>,
    /// One for each parameter.
    types: Option<Vec<TypePattern>>,
    /// `None`: any.
    returned: Option<Returned>,
}

/// The type of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Returned {
    /// As the class file has it.
    Descriptor(Glob),
    Type(TypePattern),
}

impl Returned {
    fn new(text: &str) -> Result<Returned, String> {
        if let Some(name) = text.strip_prefix(':') {
            return TypePattern::new(name.trim()).map(Returned::Type);
        }
        if let Some(c) = text.chars().find(|c| "(){}#<>\\, ".contains(*c)) {
            return Err(format!("`{c}` cannot be part of a result type, `{text}`"));
        }
        Ok(Returned::Descriptor(Glob::of_words(&text.replace('.', "/"))))
    }

    fn matches(&self, result: &[u8]) -> bool {
        match self {
            Returned::Descriptor(glob) => glob.matches(result),
            Returned::Type(void) if result == b"V" => void.is(Type { element: b"void", dimensions: 0 }),
            Returned::Type(pattern) => {
                signature::types(result).next().flatten().is_some_and(|one| pattern.ends(one))
            }
        }
    }
}

impl Parameters {
    /// Reads what stands in the parentheses of a pattern, as class files spell it or as Java does, and what is behind
    /// them. `None`: any.
    ///
    /// # Errors
    /// Why it is neither.
    pub(crate) fn new(inside: &str, returned: &str) -> Result<Option<Parameters>, String> {
        let returned = match returned.trim() {
            "" => None,
            text => Some(Returned::new(text)?),
        };
        let inside = inside.trim();
        if ["..", "...", "\u{2026}"].contains(&inside) {
            return Ok(returned.map(|returned| Parameters {
                descriptor: None,
                types: None,
                returned: Some(returned),
            }));
        }
        let descriptor = match inside.chars().find(|c| "(){}#<>\\, \u{2026}".contains(*c)) {
            None => Some(Glob::of_words(&inside.replace('.', "/"))),
            Some(_) => None,
        };
        let types = if inside.contains(';') && descriptor.is_some() {
            // Also what was given as a descriptor is compared with names that have types.
            let types = signature::parameters(inside);
            types.map(|types| types.iter().map(|text| TypePattern::new(text)).collect::<Result<_, _>>())
        } else if inside.is_empty() {
            Some(Ok(Vec::new()))
        } else {
            Some(inside.split(',').map(TypePattern::new).collect::<Result<Vec<_>, _>>())
        };
        match (descriptor, types) {
            (None, Some(Err(reason))) => Err(format!(
                "({inside}): {reason}; write parameters as `(int, java.lang.String[])` or `(I[Ljava/lang/String;)`"
            )),
            (descriptor, types) => {
                Ok(Some(Parameters { descriptor, types: types.and_then(Result::ok), returned }))
            }
        }
    }

    /// Whether the descriptor of a method fits, `(I)V`; or the parameters that another tool has printed, `(int,
    /// String)`.
    pub(crate) fn matches(&self, descriptor: &[u8]) -> bool {
        let close = descriptor.iter().rposition(|&b| b == b')').unwrap_or(descriptor.len());
        let inside = descriptor.get(1..close).unwrap_or_default();
        let result = descriptor.get(close + 1..).unwrap_or_default();
        // What another tool has printed has no result.
        if !result.is_empty() && self.returned.as_ref().is_some_and(|returned| !returned.matches(result)) {
            return false;
        }
        if self.descriptor.as_ref().is_some_and(|glob| glob.matches(inside)) {
            return true;
        }
        let Some(types) = &self.types else { return self.descriptor.is_none() };
        if !result.is_empty() {
            return fit(types, signature::types(inside));
        }
        let text = String::from_utf8_lossy(inside).replace('.', "/");
        let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        fit(types, words.iter().map(|word| Some(split(word.as_bytes()))))
    }
}

fn fit<'a>(patterns: &[TypePattern], types: impl Iterator<Item = Option<Type<'a>>>) -> bool {
    let mut rest = patterns.iter();
    for one in types {
        match (rest.next(), one) {
            (Some(pattern), Some(one)) if pattern.ends(one) => {}
            _ => return false,
        }
    }
    rest.next().is_none()
}

/// A type as Java writes it: its element, and how many `[]` are behind it.
fn split(mut name: &[u8]) -> Type<'_> {
    let mut dimensions = 0;
    while let Some(element) = name.strip_suffix(b"[]") {
        (name, dimensions) = (element, dimensions + 1);
    }
    Type { element: name, dimensions }
}

/// Which objects are meant, by the names of their classes.
#[derive(Debug, Clone, Default)]
pub struct ObjectPatterns(Vec<(String, TypePattern)>);

impl ObjectPatterns {
    /// Compiles patterns, or lists of patterns joined with `:`; see the module for their syntax.
    ///
    /// # Errors
    /// The first pattern that cannot be read, with the reason.
    pub fn new<S: AsRef<str>>(lists: &[S]) -> Result<ObjectPatterns, BadPattern> {
        let mut patterns = Vec::new();
        for pattern in lists.iter().flat_map(|list| list.as_ref().split(':')) {
            let bad = |reason| BadPattern { pattern: pattern.to_owned(), reason };
            if pattern.contains('#') {
                return Err(bad("it names a method, and objects are chosen by their classes".to_owned()));
            }
            patterns.push((pattern.trim().to_owned(), TypePattern::new(pattern).map_err(bad)?));
        }
        Ok(ObjectPatterns(patterns))
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a class (Modified UTF-8, as Java writes it: `com.acme.Foo`, `int[]`) fits any of the patterns.
    pub fn matches(&self, class: &[u8]) -> bool {
        let mut name = class.to_vec();
        name.iter_mut().filter(|byte| **byte == b'.').for_each(|byte| *byte = b'/');
        let one = split(&name);
        self.0.iter().any(|(_, pattern)| pattern.is(one))
    }

    /// The patterns, each alone.
    pub fn each(&self) -> impl Iterator<Item = (&str, ObjectPatterns)> {
        self.0.iter().map(|one| (one.0.as_str(), ObjectPatterns(vec![one.clone()])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(patterns: &[&str], class: &str) -> bool {
        ObjectPatterns::new(patterns).unwrap().matches(class.as_bytes())
    }

    #[test]
    fn objects_are_chosen_by_their_classes() {
        let list = ["com.acme.**:int[]:a.B", "c.*[]", "[Lq.R;", "[[J", "java.util.Map.Entry"];
        for class in [
            "com.acme.Foo",
            "com.acme.b.Foo[][]",
            "com.acme.X[]",
            "int[]",
            "a.B",
            "c.D[]",
            "q.R[]",
            "long[][]",
            "java.util.Map$Entry",
        ] {
            assert!(fits(&list, class), "{class}");
        }
        for class in ["int", "int[][]", "a.B[]", "com.acmeX", "c.D", "c.D[][]", "q.R", "long[]", "B"] {
            assert!(!fits(&list, class), "{class}");
        }
        assert!(fits(&["**"], "int[]") && fits(&["**"], "a.B") && fits(&["**.Foo[][]"], "p.Foo[][]"));
    }

    #[test]
    fn wrong_patterns_are_named() {
        for (pattern, reason) in [
            ("a.B#c", "chosen by their classes"),
            ("a..b[]", "bad pattern `a..b[]`"),
            ("[]", "no class name"),
            ("[B[", "an array is written `int[]`"),
            ("a.B.f(int)", "CLASS.METHOD(TYPES)"),
        ] {
            let error = ObjectPatterns::new(&[pattern]).unwrap_err().to_string();
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }
}
