//! The document of a report: JSON prints it, row by row; a page and an answer to a client take it as a value.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::machine::list;
use crate::correction::Correction;
use crate::model::Arcflow;

/// Members in the order in which they are printed. Rows are made when they are taken: there may be millions.
#[derive(Default)]
pub(crate) struct Document<'a>(Vec<(&'static str, Member<'a>)>);

/// Items of a list, each made when it is taken.
type Items<'a> = Box<dyn Iterator<Item = Value> + 'a>;

/// The value of a member.
pub(crate) enum Member<'a> {
    /// Printed as it is.
    Value(Value),
    /// An object with rows of its own.
    Object(Document<'a>),
    /// A list of such, each on a line of its own.
    Objects(Vec<Document<'a>>),
    /// The document of another report: a line ends behind it.
    Report(Document<'a>),
    /// A list, each item on a line of its own.
    Rows(Items<'a>),
    /// A list, each item but the first on a line of its own.
    List(Items<'a>),
    /// Objects within each other, as their `children`.
    Tree(Box<dyn Iterator<Item = Step<Map<String, Value>>> + 'a>),
}

/// A step of a walk over a tree.
pub(crate) enum Step<T> {
    /// Into a child.
    Down(T),
    /// Back to the parent.
    Up,
}

impl<'a> Document<'a> {
    /// With the first members of a report of a model; `total`: of all its resources.
    pub(crate) fn new(report: &str, model: &Arcflow, shown: &[usize], total: &[f64]) -> Document<'a> {
        let resources = shown.iter().map(|&r| {
            let resource = &model.resources()[r];
            json!({"name": resource.name, "unit": resource.unit})
        });
        let mut document = Document::default();
        document.put("report", report);
        document.put("consumers", json!(model.consumers));
        document.put("occurrences", json!(model.occurrences));
        document.put("resources", resources.collect::<Value>());
        document.put("total", list(total, shown));
        if let Some(window) = model.window {
            document.put("window", json!({"begin_ns": window.begin, "ns": window.length}));
        }
        document.correction(&model.correction);
        document
    }

    /// A member behind the others.
    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Value>) {
        self.member(key, Member::Value(value.into()));
    }

    /// The same with rows or members of its own.
    pub(crate) fn member(&mut self, key: &'static str, member: Member<'a>) {
        self.0.push((key, member));
    }

    /// A list, each item on a line of its own.
    pub(crate) fn rows(&mut self, key: &'static str, rows: impl Iterator<Item = Value> + 'a) {
        self.member(key, Member::Rows(Box::new(rows)));
    }

    /// Whether times are corrected; nothing where there is nothing to correct.
    pub(crate) fn correction(&mut self, correction: &Correction) {
        if let Some(correction) = correction.json() {
            self.put("correction", correction);
        }
    }

    /// How many rows were left out; nothing if none were.
    pub(crate) fn left_out(&mut self, rows: usize) {
        if rows > 0 {
            self.put("left_out", rows);
        }
    }

    /// As a value.
    pub(crate) fn into_value(self) -> Value {
        let member = |(key, member): (&str, Member<'a>)| (key.to_owned(), member.into_value());
        Value::Object(self.0.into_iter().map(member).collect())
    }

    /// Prints it, with the end of its last line.
    ///
    /// # Errors
    /// The output failed.
    pub(crate) fn print(self, out: &mut dyn Write) -> io::Result<()> {
        self.print_open(out)?;
        writeln!(out)
    }

    fn print_open(self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{")?;
        for (i, (key, member)) in self.0.into_iter().enumerate() {
            write!(out, "{}{}:", if i > 0 { "," } else { "" }, json!(key))?;
            member.print(out)?;
        }
        write!(out, "}}")
    }
}

impl Member<'_> {
    fn into_value(self) -> Value {
        match self {
            Member::Value(value) => value,
            Member::Object(document) | Member::Report(document) => document.into_value(),
            Member::Objects(documents) => documents.into_iter().map(Document::into_value).collect(),
            Member::Rows(items) | Member::List(items) => items.collect(),
            Member::Tree(steps) => tree(steps),
        }
    }

    fn print(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Member::Value(value) => write!(out, "{value}"),
            Member::Object(document) => document.print_open(out),
            Member::Report(document) => document.print(out),
            Member::Objects(documents) => {
                print_list(out, "\n", documents, |out, document| document.print_open(out))
            }
            Member::Rows(items) => print_list(out, "\n", items, |out, item| write!(out, "{item}")),
            Member::List(items) => print_list(out, "", items, |out, item| write!(out, "{item}")),
            Member::Tree(steps) => print_tree(out, steps),
        }
    }
}

/// A list with an end of line between any two items; `end`: what stands behind `[`, and before `]` if there are items.
fn print_list<T>(
    out: &mut dyn Write,
    end: &str,
    items: impl IntoIterator<Item = T>,
    mut print: impl FnMut(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, "[{end}")?;
    let mut is_empty = true;
    for item in items {
        if !std::mem::take(&mut is_empty) {
            writeln!(out, ",")?;
        }
        print(out, item)?;
    }
    write!(out, "{}]", if is_empty { "" } else { end })
}

fn print_tree(out: &mut dyn Write, steps: impl Iterator<Item = Step<Map<String, Value>>>) -> io::Result<()> {
    let mut is_first = true;
    for step in steps {
        match step {
            Step::Down(row) => {
                let mut text = Value::Object(row).to_string();
                text.pop();
                write!(out, "{}{text},\"children\":[", if is_first { "" } else { ",\n" })?;
                is_first = true;
            }
            Step::Up => {
                write!(out, "]}}")?;
                is_first = false;
            }
        }
    }
    Ok(())
}

fn tree(steps: impl Iterator<Item = Step<Map<String, Value>>>) -> Value {
    let mut open: Vec<(Map<String, Value>, Vec<Value>)> = Vec::new();
    for step in steps {
        match step {
            Step::Down(row) => open.push((row, Vec::new())),
            Step::Up => {
                let Some((mut row, children)) = open.pop() else { break };
                row.insert("children".into(), Value::Array(children));
                match open.last_mut() {
                    Some((_, siblings)) => siblings.push(Value::Object(row)),
                    None => return Value::Object(row),
                }
            }
        }
    }
    Value::Null
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document<'a>() -> Document<'a> {
        let row = |name: &str| json!({"name": name}).as_object().unwrap().clone();
        let mut inner = Document::default();
        inner.rows("none", std::iter::empty());
        let steps =
            [Step::Down(row("a")), Step::Down(row("b")), Step::Up, Step::Down(row("c")), Step::Up, Step::Up];
        inner.member("tree", Member::Tree(Box::new(steps.into_iter())));
        let mut document = Document::default();
        document.put("report", "r");
        document.rows("rows", [json!(1), json!(2)].into_iter());
        document.member("list", Member::List(Box::new([json!(3), json!(4)].into_iter())));
        document.member("items", Member::Objects(vec![Document::default()]));
        document.member("inner", Member::Report(inner));
        document
    }

    #[test]
    fn a_document_is_the_same_printed_and_as_a_value() {
        let mut text = Vec::new();
        document().print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines = [
            "{\"report\":\"r\",\"rows\":[",
            "1,",
            "2",
            "],\"list\":[3,",
            "4],\"items\":[",
            "{}",
            "],\"inner\":{\"none\":[",
            "],\"tree\":{\"name\":\"a\",\"children\":[{\"name\":\"b\",\"children\":[]},",
            "{\"name\":\"c\",\"children\":[]}]}}",
            "}",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document().into_value());
    }
}
