//! The file of `--probes`: rules that say which static method is called where, and with what.
//!
//! ```toml
//! [[probe]]
//! name = "prices"                            # what messages and the account call it
//! at = "return"                              # entry, return, throw, before-call, after-call, get, put, new, line
//! in = ["com.acme.Shop#price*"]              # patterns of methods; without it, all methods
//! not-in = "com.acme.Shop#priceOf"           # but not these
//! calls = "com.acme.Probes.price"            # a public static method that returns nothing
//! with = ["this", "argument 1", "result", { text = "EUR" }]
//!
//! [[probe]]
//! name = "statements"
//! at = "before-call"
//! of = "java.sql.Statement.execute*"         # the method, field (get, put) or class (new)
//! annotated = "com.acme.Audited"             # only methods with this annotation
//! class-annotated = "com.acme.Service"       # only classes with this annotation
//! subclasses-of = "com.acme.Dao"             # only classes that extend or implement this
//! calls = "com.acme.Probes.statement(Ljava/lang/Object;Ljava/lang/String;)V"
//! with = ["receiver", "call argument 1"]
//!
//! [[probe]]
//! name = "line 12"
//! at = "line"
//! line = 12
//! in = "com.acme.Shop"
//! calls = "com.acme.Probes.here"
//! with = ["method", "id", { int = 1 }, { long = 2 }, { double = 0.5 }]
//! ```
//!
//! An unknown key or a bad value is an error with its line.

mod prepared;

use crate::place::place;
use instrument_names::pattern::{Pattern, split_list};
use instrument_names::printable::printable;
use instrument_names::types::ObjectPatterns;
use instrument_rewriter::class_file::descriptor::method_slots;
use instrument_rewriter::transform::own_calls::rules::{Given, Kind, Rule};
use instrument_rewriter::transform::own_calls::{Call, Value};
pub use prepared::Prepared;
use std::ops::Range;
use toml::Spanned;

/// A rule, and what else the file says of the method that it calls.
#[derive(Debug)]
pub struct Probe {
    pub rule: Rule,
    /// The descriptor of the method, if it is given.
    pub descriptor: Option<String>,
    /// `FILE:LINE:COLUMN` of the method.
    pub place: String,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    probe: Vec<Spanned<Entry>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    name: Spanned<String>,
    at: Spanned<String>,
    r#in: Option<Spanned<toml::Value>>,
    not_in: Option<Spanned<toml::Value>>,
    of: Option<Spanned<String>>,
    line: Option<Spanned<u16>>,
    annotated: Option<Spanned<toml::Value>>,
    class_annotated: Option<Spanned<toml::Value>>,
    subclasses_of: Option<Spanned<toml::Value>>,
    calls: Spanned<String>,
    #[serde(default)]
    with: Vec<Spanned<toml::Value>>,
}

/// What is wrong, and where.
type Wrong = (Range<usize>, String);

/// Reads the text of the file `name`.
///
/// # Errors
/// What is wrong with it, with its place, in one sentence.
pub fn parse(text: &str, name: &str) -> Result<Vec<Probe>, String> {
    let at = |(span, reason): Wrong| format!("{}: {reason}", place(text, name, span));
    let file: File = toml::from_str(text).map_err(|error| {
        let reason = error.message().trim_end().replace('\n', "; ");
        error.span().map_or_else(|| format!("{name}: {reason}"), |span| at((span, reason.clone())))
    })?;
    if file.probe.is_empty() {
        return Err(format!("{name}: there is no rule; each begins with a line [[probe]]"));
    }
    let mut probes: Vec<Probe> = Vec::new();
    for entry in file.probe {
        let entry = entry.into_inner();
        let place = place(text, name, entry.calls.span());
        let span = entry.name.span();
        let probe = read(entry, place).map_err(at)?;
        if probes.iter().any(|other| other.rule.name == probe.rule.name) {
            let name = &probe.rule.name;
            let reason = format!("two rules have the name '{name}'; give each rule a name of its own");
            return Err(at((span, reason)));
        }
        probes.push(probe);
    }
    Ok(probes)
}

fn read(entry: Entry, place: String) -> Result<Probe, Wrong> {
    let (span, name) = (entry.name.span(), entry.name.into_inner());
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err((span, "the name of a rule is a text in one line".to_owned()));
    }
    let kind = kind(entry.at, entry.of, entry.line)?;
    let (span, text) = (entry.calls.span(), entry.calls.into_inner());
    let (owner, method, descriptor) = method(&text).map_err(|reason| (span, reason))?;
    let mut with = Vec::new();
    for value in entry.with {
        let (span, value) = (value.span(), value.into_inner());
        let given = given(&value, &kind).map_err(|reason| (span.clone(), reason))?;
        if !kind.has(&given) {
            return Err((
                span,
                format!("there is no `{given}` at = \"{}\"; {}", kind.word(), there_is(&kind)),
            ));
        }
        with.push(given);
    }
    let mut supers = Vec::new();
    if let Some(list) = entry.subclasses_of {
        let span = list.span();
        for class in texts(list)? {
            let name = class.replace('.', "/");
            Call::new(&name, "f").map_err(|_| {
                (
                    span.clone(),
                    format!(
                        "`{}` is not the name of one class, such as java.sql.Statement",
                        printable(&class)
                    ),
                )
            })?;
            supers.push(name);
        }
    }
    let rule = Rule {
        name,
        at: kind,
        methods: patterns(entry.r#in)?,
        except: patterns(entry.not_in)?,
        annotated: classes(entry.annotated)?,
        class_annotated: classes(entry.class_annotated)?,
        subclasses_of: supers,
        owner,
        method,
        with,
    };
    Ok(Probe { rule, descriptor, place })
}

/// The words of `at` that say what they are about by `of`.
const WITH_OF: [&str; 5] = ["before-call", "after-call", "get", "put", "new"];

fn kind(at: Spanned<String>, of: Option<Spanned<String>>, line: Option<Spanned<u16>>) -> Result<Kind, Wrong> {
    let (span, word) = (at.span(), at.into_inner());
    let takes_of = WITH_OF.contains(&word.as_str());
    if let Some(of) = of.as_ref().filter(|_| !takes_of) {
        return Err((of.span(), format!("`of` is for at = {}", WITH_OF.join(", "))));
    }
    if let Some(line) = line.as_ref().filter(|_| word != "line") {
        return Err((line.span(), "`line` is for at = \"line\"".to_owned()));
    }
    let pattern = |of: Option<Spanned<String>>, what: &str| {
        let of = of.ok_or_else(|| (span.clone(), format!("at = \"{word}\" needs `of`: {what}")))?;
        let pattern = Pattern::new(of.get_ref()).map_err(|error| (of.span(), error.to_string()))?;
        Ok::<_, Wrong>((of.span(), pattern))
    };
    let field = |of: Option<Spanned<String>>| {
        let (span, pattern) = pattern(of, "which field, such as com.acme.Shop.count")?;
        if pattern.text().contains('(') {
            return Err((
                span,
                format!("`{}` is a pattern of methods; a field has no parameters", printable(pattern.text())),
            ));
        }
        Ok(pattern)
    };
    let called = "which method, such as java.sql.Statement.execute*";
    Ok(match word.as_str() {
        "entry" => Kind::Entry,
        "return" => Kind::Return,
        "throw" => Kind::Throw,
        "before-call" => Kind::BeforeCall(pattern(of, called)?.1),
        "after-call" => Kind::AfterCall(pattern(of, called)?.1),
        "get" => Kind::Get(field(of)?),
        "put" => Kind::Put(field(of)?),
        "new" => {
            let of = of.ok_or_else(|| {
                (
                    span.clone(),
                    "at = \"new\" needs `of`: which class, such as com.acme.Item or int[]".to_owned(),
                )
            })?;
            Kind::New(ObjectPatterns::new(&[of.get_ref()]).map_err(|error| (of.span(), error.to_string()))?)
        }
        "line" => Kind::Line(
            *line
                .ok_or_else(|| (span.clone(), "at = \"line\" needs `line`: its number".to_owned()))?
                .get_ref(),
        ),
        other => {
            return Err((
                span,
                format!(
                    "`{}` is no kind of place; there are entry, return, throw, {}, line",
                    printable(other),
                    WITH_OF.join(", ")
                ),
            ));
        }
    })
}

/// The class (internal name), the name and the descriptor of the method to call.
fn method(text: &str) -> Result<(String, String, Option<String>), String> {
    let (head, descriptor) = match text.find('(') {
        Some(at) => (&text[..at], Some(text[at..].to_owned())),
        None => (text, None),
    };
    if let Some(descriptor) = &descriptor {
        match method_slots(descriptor.as_bytes()) {
            None => {
                return Err(format!(
                    "`{}` is no descriptor of a method, such as (Ljava/lang/Object;I)V",
                    printable(descriptor)
                ));
            }
            Some(_) if !descriptor.ends_with(")V") => {
                return Err(format!(
                    "`{}` returns something; a method that rules call returns nothing",
                    printable(text)
                ));
            }
            Some((slots, _)) if slots > 255 => {
                return Err("the parameters take more than 255 slots".to_owned());
            }
            Some(_) => {}
        }
    }
    let split = head.rsplit_once(['#', '.']).filter(|(class, _)| !class.is_empty());
    let (class, method) = split.ok_or_else(|| {
        format!("`{}` names no class; write CLASS.METHOD, such as com.acme.Probes.entered", printable(text))
    })?;
    let class = class.replace('.', "/");
    Call::new(&class, method).map_err(|error| error.to_string())?;
    Ok((class, method.to_owned(), descriptor))
}

fn given(value: &toml::Value, kind: &Kind) -> Result<Given, String> {
    const WORDS: &str = "this, argument N, result, exception, receiver, call argument N, value, id, method, target, \
        or a constant: { int = 1 }, { long = 1 }, { double = 0.5 }, { text = \"..\" }";
    match value {
        toml::Value::String(word) => word_of(word, kind)
            .ok_or_else(|| format!("`{}` is nothing that can be passed; there are {WORDS}", printable(word))),
        toml::Value::Table(table) if table.len() == 1 => {
            let (key, value) = table.iter().next().ok_or_else(|| WORDS.to_owned())?;
            let bad = |what: &str| format!("`{key}` takes {what}");
            match (key.as_str(), value) {
                ("int", toml::Value::Integer(number)) => i32::try_from(*number)
                    .map(Given::Int)
                    .map_err(|_| bad("a number of 32 bits; `long` takes one of 64")),
                ("long", toml::Value::Integer(number)) => Ok(Given::Long(*number)),
                ("double", toml::Value::Float(number)) => Ok(Given::Double(*number)),
                ("double", toml::Value::Integer(number)) => Ok(Given::Double(*number as f64)),
                ("text", toml::Value::String(text)) if text.len() <= 20_000 => Ok(Given::Text(text.clone())),
                ("text", toml::Value::String(_)) => Err(bad("at most 20,000 bytes")),
                ("int" | "long" | "double", _) => Err(bad("a number")),
                ("text", _) => Err(bad("a text")),
                _ => Err(format!(
                    "`{}` is no type of a constant; there are int, long, double, text",
                    printable(key)
                )),
            }
        }
        toml::Value::Integer(_) => {
            Err("a number needs its type: { int = 1 }, { long = 1 } or { double = 1 }".to_owned())
        }
        _ => Err(format!("this is nothing that can be passed; there are {WORDS}")),
    }
}

fn word_of(word: &str, kind: &Kind) -> Option<Given> {
    let number = |text: &str| text.parse().ok().and_then(|number: u8| number.checked_sub(1));
    Some(match word {
        "this" => Given::Value(Value::This),
        "result" => Given::Value(Value::Result),
        "exception" => Given::Value(Value::Exception),
        "receiver" => Given::Value(Value::Receiver),
        "value" if matches!(kind, Kind::Put(_)) => Given::Value(Value::Operand(0)),
        "value" => Given::Value(Value::Result),
        "id" => Given::Id,
        "method" => Given::Method,
        "target" => Given::Target,
        word => match (word.strip_prefix("argument "), word.strip_prefix("call argument ")) {
            (Some(text), _) => Given::Value(Value::Argument(number(text)?)),
            (_, Some(text)) => Given::Value(Value::Operand(number(text)?)),
            _ => return None,
        },
    })
}

/// What can be passed at places of a kind.
fn there_is(kind: &Kind) -> String {
    let all = [
        Given::Value(Value::This),
        Given::Value(Value::Argument(0)),
        Given::Value(Value::Result),
        Given::Value(Value::Exception),
        Given::Value(Value::Receiver),
        Given::Value(Value::Operand(0)),
        Given::Id,
        Given::Method,
        Given::Target,
    ];
    let there: Vec<String> = all.iter().filter(|given| kind.has(given)).map(ToString::to_string).collect();
    format!("there are {}, and constants", there.join(", "))
}

/// A text, or a list of texts.
fn texts(value: Spanned<toml::Value>) -> Result<Vec<String>, Wrong> {
    let span = value.span();
    let wrong = || (span.clone(), "this takes a text or a list of texts".to_owned());
    match value.into_inner() {
        toml::Value::String(text) => Ok(vec![text]),
        toml::Value::Array(list) => {
            list.into_iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

fn patterns(value: Option<Spanned<toml::Value>>) -> Result<Vec<Pattern>, Wrong> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let span = value.span();
    let mut patterns = Vec::new();
    for text in texts(value)? {
        for one in split_list(&text, &[':']) {
            patterns.push(Pattern::new(one).map_err(|error| (span.clone(), error.to_string()))?);
        }
    }
    if patterns.is_empty() {
        return Err((span, "the list is empty, so nothing would fit".to_owned()));
    }
    Ok(patterns)
}

fn classes(value: Option<Spanned<toml::Value>>) -> Result<Vec<Pattern>, Wrong> {
    let span = value.as_ref().map_or(0..0, Spanned::span);
    let patterns = patterns(value)?;
    match patterns.iter().find(|pattern| pattern.text().contains(['#', '('])) {
        Some(bad) => {
            Err((span, format!("`{}` names a method, and this takes classes", printable(bad.text()))))
        }
        None => Ok(patterns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file in the documentation of this module.
    fn example() -> String {
        let source = include_str!("probes.rs").lines().skip_while(|line| !line.contains("```toml")).skip(1);
        let lines = source.take_while(|line| !line.contains("```"));
        lines.map(|line| format!("{}\n", line.trim_start_matches("//!").trim_start())).collect()
    }

    #[test]
    fn the_example_is_read() {
        let probes = parse(&example(), "p.toml").unwrap();
        let [prices, statements, line] = &probes[..] else { panic!("{probes:?}") };
        assert_eq!((prices.rule.owner.as_str(), prices.rule.method.as_str()), ("com/acme/Probes", "price"));
        assert_eq!(prices.place, "p.toml:6:9");
        let fits = |patterns: &[Pattern]| patterns[0].matches(b"com/acme/Shop", b"priceOf", b"()I");
        assert!(fits(&prices.rule.methods) && fits(&prices.rule.except));
        let with = [
            Given::Value(Value::This),
            Given::Value(Value::Argument(0)),
            Given::Value(Value::Result),
            Given::Text("EUR".to_owned()),
        ];
        assert_eq!(prices.rule.with, with);
        assert_eq!(statements.descriptor.as_deref(), Some("(Ljava/lang/Object;Ljava/lang/String;)V"));
        assert_eq!(statements.rule.with, [Given::Value(Value::Receiver), Given::Value(Value::Operand(0))]);
        assert_eq!(statements.rule.subclasses_of, ["com/acme/Dao"]);
        assert!(matches!(line.rule.at, Kind::Line(12)));
        let with = [Given::Method, Given::Id, Given::Int(1), Given::Long(2), Given::Double(0.5)];
        assert_eq!(line.rule.with, with);
    }

    #[test]
    fn wrong_files_are_refused_with_their_place() {
        let rule = |lines: &str| format!("[[probe]]\nname = \"x\"\n{lines}\n");
        let entry = |lines: &str| rule(&format!("at = \"entry\"\ncalls = \"a.B.f\"\n{lines}"));
        for (text, start, reason) in [
            (String::new(), "p.toml: ", "there is no rule"),
            (entry("bogus = 1"), "p.toml:5:1: ", "unknown field `bogus`"),
            (rule("at = \"entry\""), "p.toml:1:1: ", "missing field `calls`"),
            (rule("at = \"exit\"\ncalls = \"a.B.f\""), "p.toml:3:6: ", "`exit` is no kind of place"),
            (rule("at = \"get\"\ncalls = \"a.B.f\""), "p.toml:3:6: ", "needs `of`: which field"),
            (rule("at = \"new\"\ncalls = \"a.B.f\""), "p.toml:3:6: ", "needs `of`: which class"),
            (rule("at = \"line\"\ncalls = \"a.B.f\""), "p.toml:3:6: ", "needs `line`"),
            (
                rule("at = \"put\"\nof = \"a.B.f()\"\ncalls = \"a.B.f\""),
                "p.toml:4:6: ",
                "a field has no parameters",
            ),
            (entry("of = \"a.B\""), "p.toml:5:6: ", "`of` is for"),
            (entry("line = 3"), "p.toml:5:8: ", "`line` is for"),
            (entry("in = \"a..B\""), "p.toml:5:6: ", "bad pattern `a..B`"),
            (entry("in = []"), "p.toml:5:6: ", "the list is empty"),
            (entry("in = [1]"), "p.toml:5:6: ", "a text or a list of texts"),
            (entry("annotated = \"a.B#f\""), "p.toml:5:13: ", "takes classes"),
            (entry("subclasses-of = \"a.*;\""), "p.toml:5:17: ", "not the name of one class"),
            (entry("with = [\"that\"]"), "p.toml:5:9: ", "`that` is nothing that can be passed"),
            (entry("with = [\"argument 0\"]"), "p.toml:5:9: ", "`argument 0` is nothing"),
            (entry("with = [\"result\"]"), "p.toml:5:9: ", "there is no `result` at = \"entry\""),
            (entry("with = [7]"), "p.toml:5:9: ", "a number needs its type"),
            (entry("with = [{ int = 3000000000 }]"), "p.toml:5:9: ", "a number of 32 bits"),
            (entry("with = [{ float = 1.0 }]"), "p.toml:5:9: ", "`float` is no type"),
            (entry("with = [{ text = 1 }]"), "p.toml:5:9: ", "`text` takes a text"),
            (rule("at = \"entry\"\ncalls = \"f\""), "p.toml:4:9: ", "names no class"),
            (rule("at = \"entry\"\ncalls = \"a.B.<init>\""), "p.toml:4:9: ", "no name of a static method"),
            (rule("at = \"entry\"\ncalls = \"a.B.f(int)\""), "p.toml:4:9: ", "no descriptor of a method"),
            (rule("at = \"entry\"\ncalls = \"a.B.f()I\""), "p.toml:4:9: ", "returns something"),
            (entry("") + &entry(""), "p.toml:7:8: ", "two rules have the name 'x'"),
        ] {
            let error = parse(&text, "p.toml").expect_err(&text);
            assert!(error.starts_with(start) && error.contains(reason), "{text}\n{error}");
        }
    }

    proptest::proptest! {
        /// The example with pieces put or cut anywhere is read or refused.
        #[test]
        fn mutants_of_the_example_are_read_or_refused(
            edits in proptest::collection::vec((0.0..1.0f64, 0usize..12, "[\\[\\]{}\"'=.,#\n a-z0-9\\PC]{0,6}"), 1..5),
        ) {
            let mut text: Vec<char> = example().chars().collect();
            for (at, cut, piece) in edits {
                let at = (at * text.len() as f64) as usize;
                let end = (at + cut).min(text.len());
                text.splice(at..end, piece.chars());
            }
            if let Err(error) = parse(&text.into_iter().collect::<String>(), "p.toml") {
                proptest::prop_assert!(error.starts_with("p.toml:"), "{}", error);
            }
        }
    }
}
