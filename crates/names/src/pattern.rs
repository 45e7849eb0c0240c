//! The one pattern language: which classes and methods a user means. Every form in which a name is printed is a pattern for it.
//!
//! | written | means |
//! |---|---|
//! | `com.acme.Shop`, `com/acme/Shop` | a class |
//! | `com.acme.*`, `com.acme.**`, `**.Shop` | the classes of a package; with those below it; of this name in any package |
//! | `Outer.Inner`, `Outer$Inner` | a nested class |
//! | `Shop#price`, `Shop.price` | every method of this name |
//! | `Shop.price(int, String)`, `Shop#price(ILjava/lang/String;)` | the method with these parameters; types with or without their packages |
//! | `Shop.price(I)V` | the same with the type of its result |
//! | `Shop.price(int): Item` | the same with the type as a report prints it |
//! | `Shop.price(..)`, `Shop.price(…)` | every method of this name |
//! | `a.B:c.D` | both: a list |
//!
//! `*` is any run of characters within a package, a method's name or a type, `**` any run, `?` one character. `Shop.price` without
//! parentheses may be a class and a method: both fit.

pub use crate::error::BadPattern;
use crate::glob::Glob;
use crate::signature;
use crate::types::{Parameters, check_class};

/// In front of the name of calls that are recorded where they are made, in reports in which the method itself has a row, too.
const CALL: &str = "call ";

/// Which methods of a class fit, from none to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// None.
    None,
    /// Some: [`Pattern::matches`] says which.
    Some,
    /// All.
    All,
}

/// One pattern, compiled.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    /// What it can mean: one thing or two.
    readings: Vec<Reading>,
}

#[derive(Debug, Clone)]
struct Reading {
    class: Glob,
    method: Option<MethodPattern>,
}

/// A pattern of methods, whatever their class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodPattern {
    name: Glob,
    parameters: Option<Parameters>,
}

impl Pattern {
    /// Compiles one pattern; see the module for the syntax.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Pattern, BadPattern> {
        let text = without_remarks(text.trim());
        let readings =
            Self::readings(text).map_err(|reason| BadPattern { pattern: text.to_owned(), reason })?;
        Ok(Pattern { text: text.to_owned(), readings })
    }

    /// Fits what is named exactly so, and nothing else.
    pub fn literal(text: &str) -> Pattern {
        Pattern { text: text.to_owned(), readings: Vec::new() }
    }

    /// The same where methods are meant: without a class, those of every class (`run`, `get*`, `<init>(int)`).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_methods(text: &str) -> Result<Pattern, BadPattern> {
        if class_and_method(text).is_some() {
            return Pattern::new(text);
        }
        let method = Some(MethodPattern::new(text)?);
        let text = text.trim().to_owned();
        Ok(Pattern { text, readings: vec![Reading { class: Glob::of_classes("**"), method }] })
    }

    /// One pattern, or several joined with `:`.
    ///
    /// # Errors
    /// The first pattern that cannot be read.
    pub fn list(patterns: &str) -> Result<Vec<Pattern>, BadPattern> {
        split_list(patterns, &[':']).into_iter().map(Pattern::new).collect()
    }

    fn readings(text: &str) -> Result<Vec<Reading>, String> {
        if let Some(c) = text.chars().find(|c| c.is_control()) {
            return Err(format!("it contains {c:?}"));
        }
        let split = class_and_method(text);
        if text.contains(['#', '(', '<']) {
            let Some((class, method)) = split.filter(|(class, _)| !class.is_empty()) else {
                let method = text.trim_start_matches('#');
                return Err(format!("there is no class name; write `**#{method}` for every class"));
            };
            return Ok(vec![Reading::new(class, Some(method))?]);
        }
        let mut readings = vec![Reading::new(text, None)?];
        if let Some((class, method)) = split
            && text.as_bytes()[class.len()] == b'.'
            && !class.rsplit(['.', '/']).next().is_none_or(|name| name.trim_matches('*').is_empty())
            && let Ok(reading) = Reading::new(class, Some(method))
        {
            readings.push(reading);
        }
        Ok(readings)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Which methods of a class fit (internal name, Modified UTF-8).
    pub fn class(&self, class: &[u8]) -> Fit {
        let mut fit = Fit::None;
        for reading in self.readings.iter().filter(|reading| reading.class.matches(class)) {
            match &reading.method {
                None => return Fit::All,
                Some(_) => fit = Fit::Some,
            }
        }
        fit
    }

    /// Whether a method fits: its class, name and descriptor as in the class file.
    pub fn matches(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.readings.iter().any(|reading| {
            reading.method.as_ref().is_none_or(|method| method.matches(name, descriptor))
                && reading.class.matches(class)
        })
    }

    /// Whether a method fits, or what else a report names: `pkg.Class.method(desc)`, `pkg.Class.method(int, String)`, or anything. What is
    /// not the name of a method fits as a class does; a link, as in `(class loading)`, is meant only by its whole name.
    pub fn matches_name(&self, name: &str) -> bool {
        if name == self.text || signature::brief(name).is_some_and(|brief| brief == self.text) {
            return true;
        }
        if name.starts_with('(') {
            return false;
        }
        let name = name.strip_prefix(CALL).unwrap_or(name);
        let (head, descriptor) = name.split_at(name.find('(').unwrap_or(name.len()));
        let (class, method) = head.rsplit_once('.').unwrap_or((head, ""));
        let class = class.replace('.', "/");
        self.matches(class.as_bytes(), method.as_bytes(), descriptor.as_bytes())
            || (descriptor.is_empty() && self.matches(head.replace('.', "/").as_bytes(), b"", b""))
    }

    /// What else it means if it fits nothing, in the forms that narrow reports print: with single letters for packages (`o.e.Parser`), and
    /// without packages.
    pub fn shortened(&self) -> Vec<Pattern> {
        let end = self.text.find(['(', '#']).unwrap_or(self.text.len());
        let (head, tail) = self.text.split_at(end);
        let parts: Vec<&str> = head.split('.').collect();
        let is_short = |part: &str| part.len() == 1 && part.bytes().all(|b| b.is_ascii_lowercase());
        let last = parts.len() - 1;
        let widened = parts.iter().enumerate().map(|(at, part)| {
            if at < last && is_short(part) { format!("{part}*") } else { (*part).to_owned() }
        });
        let initials = widened.collect::<Vec<_>>().join(".") + tail;
        let all = [initials, format!("**.{}", self.text)];
        all.iter().filter(|text| **text != self.text).filter_map(|text| Pattern::new(text).ok()).collect()
    }
}

impl Reading {
    fn new(class: &str, method: Option<&str>) -> Result<Reading, String> {
        check_class(class)?;
        Ok(Reading {
            class: Glob::of_classes(class),
            method: method.map(MethodPattern::of_method).transpose()?,
        })
    }
}

impl MethodPattern {
    /// `name`, `name(parameters)` or `name(parameters)result`, also `name:(I)V`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<MethodPattern, BadPattern> {
        let text = text.trim();
        Self::of_method(text).map_err(|reason| BadPattern { pattern: text.to_owned(), reason })
    }

    fn of_method(method: &str) -> Result<MethodPattern, String> {
        let (name, descriptor) = method.split_at(method.find('(').unwrap_or(method.len()));
        let name = name.strip_suffix(':').filter(|_| !descriptor.is_empty()).unwrap_or(name).trim();
        if name.is_empty() {
            return Err("there is no method name; write `CLASS#*` for every method".to_owned());
        }
        // JVMS 4.2.2.
        if let Some(c) = name.chars().find(|c| "#[];:{}).\\/ ,".contains(*c)) {
            return Err(format!("`{c}` cannot be part of a method name"));
        }
        if name.contains(['<', '>']) && !name.contains(['*', '?']) && !["<init>", "<clinit>"].contains(&name)
        {
            return Err(format!("`{name}` is no method name; only <init> and <clinit> have angle brackets"));
        }
        let name = Glob::of_words(name);
        let Some(inside) = descriptor.strip_prefix('(') else {
            return Ok(MethodPattern { name, parameters: None });
        };
        let Some((inside, returned)) = inside.split_once(')') else {
            return Err(format!("`{descriptor}` lacks its `)`"));
        };
        if returned.contains(')') {
            return Err(format!("`{descriptor}` has more than one `)`"));
        }
        Ok(MethodPattern { name, parameters: Parameters::new(inside, returned)? })
    }

    /// Whether a method of any class fits.
    pub fn matches(&self, name: &[u8], descriptor: &[u8]) -> bool {
        self.name.matches(name) && self.parameters.as_ref().is_none_or(|p| p.matches(descriptor))
    }
}

/// Several patterns, for looking things up: what fits one of them is meant.
#[derive(Debug, Clone, Default)]
pub struct MethodQuery(Vec<Pattern>);

impl MethodQuery {
    /// Compiles one pattern or `:`-list of patterns.
    ///
    /// # Errors
    /// A pattern that cannot be read.
    pub fn new(patterns: &str) -> Result<MethodQuery, BadPattern> {
        Pattern::list(patterns).map(MethodQuery)
    }

    /// The patterns.
    pub fn patterns(&self) -> &[Pattern] {
        &self.0
    }

    /// Whether the method fits any of the patterns.
    pub fn matches(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.matches(class, name, descriptor))
    }
}

/// What reports print behind a method: `[bridge]`, `[synthetic]`, `(Shop.java:17)`.
fn without_remarks(text: &str) -> &str {
    let Some(close) = text.find(')') else { return text };
    let after = &text[close..];
    let end = [" [", " ("].iter().filter_map(|mark| after.find(mark)).min().unwrap_or(after.len());
    &text[..close + end]
}

/// The class and the method, with its parameters, in what names a method for sure or may do so: `CLASS#METHOD`, `CLASS.METHOD(TYPES)`,
/// `CLASS.METHOD`.
pub fn class_and_method(text: &str) -> Option<(&str, &str)> {
    text.split_once('#').or_else(|| {
        let head = &text[..text.find('(').unwrap_or(text.len())];
        head.rfind(['.', '/']).map(|at| (&text[..at], &text[at + 1..]))
    })
}

/// The package of a class, whose name has `.` or `/`; empty: the unnamed package (JLS 7.4.2).
pub fn package(class: &str) -> &str {
    class.rfind(['.', '/']).map_or("", |at| &class[..at])
}

/// The parts between separators that stand in no parentheses. (`name:(I)V` and `name(): String` are one part.)
pub fn split_list<'a>(text: &'a str, separators: &[char]) -> Vec<&'a str> {
    let (mut parts, mut start, mut open) = (Vec::new(), 0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            c if open == 0
                && separators.contains(&c)
                && !text[at..].starts_with(":(")
                && !text[at..].starts_with(": ") =>
            {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class, method and descriptor.
    type Member<'a> = (&'a str, &'a str, &'a str);

    const PRICE: Member<'_> = ("com/acme/Shop", "price", "(ILjava/lang/String;[Lq/Money;)V");
    const OTHER: Member<'_> = ("com/acme/Shop", "price", "(J)V");
    const NESTED: Member<'_> = ("com/acme/Shop$Till", "<init>", "(Lcom/acme/Shop;)V");

    fn fits(pattern: &str, member: Member<'_>) -> bool {
        let pattern = Pattern::new(pattern).unwrap_or_else(|error| panic!("{error}"));
        pattern.matches(member.0.as_bytes(), member.1.as_bytes(), member.2.as_bytes())
    }

    #[test]
    fn every_form_that_is_printed_is_accepted() {
        for pattern in [
            "com.acme.Shop",
            "com/acme/Shop",
            "com.acme.*",
            "**.Shop",
            "com.acme.Shop#price",
            "com.acme.Shop.price",
            "com.acme.Shop.price(int, String, Money[])",
            "com.acme.Shop.price(int,java.lang.String,q.Money[])",
            "com.acme.Shop.price(int, String, Money...)",
            "com.acme.Shop.price(*, **, *[])",
            "com.acme.Shop.price(ILjava/lang/String;[Lq/Money;)V",
            "com/acme/Shop.price(ILjava/lang/String;[Lq/Money;)V",
            "com/acme/Shop#price(ILjava/lang/String;[Lq/Money;)V",
            "com.acme.Shop#price(ILjava.lang.String;[Lq.Money;)",
            "com.acme.Shop#price:(ILjava/lang/String;[Lq/Money;)V",
            "com.acme.Shop#price(I*)V",
            "com.acme.Shop.price(..)",
            "com.acme.Shop.price(\u{2026})",
            "com.ac\u{2026}hop.price(\u{2026})",
            "com.acme.Shop.pr*(int,*,*)V",
            "com.acme.Shop.price(int, String, Money[]): void",
            "com.acme.Shop.price(..): void [bridge] (Shop.java:17)",
            "com.acme.Shop.price(..) (Shop.java)",
        ] {
            assert!(fits(pattern, PRICE), "{pattern}");
        }
        for pattern in [
            "com.acme",
            "com.acme.Shop#prices",
            "com.acme.Shop.price(int)",
            "com.acme.Shop.price(int, String, Money)",
            "com.acme.Shop.price(int, String, Money[], int)",
            "com.acme.Shop.price(int, a.String, Money[])",
            "com.acme.Shop.price(ILjava/lang/String;[Lq/Money;)I",
            "com.acme.Shop.price()",
            "com.acme.Shop.price(..): String",
            "Shop.price(..)",
        ] {
            assert!(!fits(pattern, PRICE), "{pattern}");
        }
        assert!(fits("com.acme.Shop.price(long)", OTHER) && fits("com.acme.Shop.price(J)", OTHER));
        for pattern in [
            "com.acme.Shop.Till.<init>(Shop)",
            "com.acme.Shop$Till.<init>",
            "com.acme.Shop.Till",
            "com.acme.Shop.*",
            "**.Shop.Till#<init>(com.acme.Shop)V",
        ] {
            assert!(fits(pattern, NESTED), "{pattern}");
        }
    }

    #[test]
    fn names_of_reports_fit_as_they_are_shown() {
        let fits = |pattern: &str, name: &str| Pattern::new(pattern).unwrap().matches_name(name);
        let name = "com.acme.Shop.price(I[Lq/Money;)V";
        for pattern in [name, "com.acme.Shop.price(int, Money[])", "com.acme.**", "com.acme.Shop.price"] {
            assert!(fits(pattern, name), "{pattern}");
            assert!(fits(pattern, &format!("call {name}")), "{pattern}");
            assert!(fits(pattern, "com.acme.Shop.price(int, Money[])") || pattern == name, "{pattern}");
        }
        assert!(fits(name, "com.acme.Shop.price(int,q.Money[])"), "a name that folded stacks have");
        assert!(fits("malloc", "malloc") && fits("std.*", "std.sort") && !fits("st", "std.sort"));
    }

    #[test]
    fn where_methods_are_meant_a_class_may_be_left_out() {
        let fits = |pattern: &str| Pattern::of_methods(pattern).unwrap().matches(b"a/B", b"wide", b"(I)I");
        for pattern in
            ["wide", "w*", "wide(I)*", "wide:(I)I", "wide(int)", "a.B.wide(int)", "a/B#wide", "*.B.wide"]
        {
            assert!(fits(pattern), "{pattern}");
        }
        assert!(!fits("wid") && !fits("wide(J)*") && !fits("a.C#wide"));
    }

    #[test]
    fn packages_may_be_short_or_left_out() {
        let fits = |text: &str| {
            let short = Pattern::new(text).unwrap().shortened();
            short.iter().any(|pattern| pattern.matches_name("com.acme.Shop.price(I)V"))
        };
        for pattern in ["c.a.Shop.price(..)", "Shop.price(int)", "Shop#price", "Shop"] {
            assert!(fits(pattern), "{pattern}");
        }
        assert!(!fits("c.b.Shop.price(int)") && !fits("hop.price"));
    }

    #[test]
    fn a_class_fits_as_a_whole_or_in_part() {
        let fit = |pattern: &str, class: &str| Pattern::new(pattern).unwrap().class(class.as_bytes());
        assert_eq!(fit("a.B", "a/B"), Fit::All);
        assert_eq!(fit("a.B.run", "a/B"), Fit::Some);
        assert_eq!(fit("a.B#run", "a/C"), Fit::None);
        assert_eq!(fit("**.Foo", "a/B"), Fit::None, "no class is left to look for methods of the name Foo");
    }

    #[test]
    fn lists_are_split_outside_of_parentheses() {
        assert_eq!(split_list("a.B.f(int, int):c.D", &[':', ',']), ["a.B.f(int, int)", "c.D"]);
        assert_eq!(split_list("a.B:f:(I)V", &[':']), ["a.B", "f:(I)V"]);
        assert_eq!(split_list("a.B.f(): String:a.C", &[':']), ["a.B.f(): String", "a.C"]);
        let query = MethodQuery::new("com/acme/Foo#*:b.C.run(int)").unwrap();
        assert!(query.matches(b"com/acme/Foo", b"<init>", b"()V"));
        assert!(query.matches(b"b/C", b"run", b"(I)I"));
        assert!(!query.matches(b"b/C", b"run", b"(J)I"));
    }

    #[test]
    fn bad_patterns_are_named_with_their_reason() {
        for (pattern, reason) in [
            ("", "no class name"),
            ("a::b", "no class name"),
            ("#run", "`**#run`"),
            ("run(int)", "`**#run(int)`"),
            ("a b", "' '"),
            ("com.acme.", "`com.acme.**`"),
            ("com..acme", "empty"),
            ("com/acme/{A,B}", "only `*`"),
            ("com/[ab]", "only `*`"),
            ("a.B#", "`CLASS#*`"),
            ("a.B#run(I", "lacks its `)`"),
            ("a.B#run(int int)", "' '"),
            ("a.B#run(int,,int)", "no class name"),
            ("a.B#run(I))V", "more than one"),
            ("a.B#<main>", "only <init>"),
            ("a.B#x#y", "`#`"),
        ] {
            let error = MethodQuery::new(pattern).expect_err(pattern);
            assert!(error.to_string().contains(reason), "{pattern}: {error}");
        }
    }
}
