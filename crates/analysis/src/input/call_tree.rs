//! Complete call trees, as JSON: the model itself, written down.
//!
//! ```text
//! {
//!   "resources": [{"name": "wall", "unit": "ns"}],
//!   "consumers": "methods",
//!   "occurrences": "calls",
//!   "tree": {"name": "(root)", "kind": "root", "n": 0, "base": [0], "children": [
//!     {"name": "main", "kind": "thread", "n": 1, "base": [0], "children": [
//!       {"name": "Main.main", "n": 1, "base": [12.5]}]}]}
//! }
//! ```
//!
//! `resources` comes before `tree`, and a node's `name` and `kind` before its `children`; of a node only `name` has to
//! be there. A `kind` is `process`, `thread`, `link`, `deeper` or `method`, which is meant if there is none; the
//! outermost node is the root. Siblings of the same name and kind are added up. Members of other names are skipped.

use super::{Error, lines};
use crate::model::{Arcflow, Kind, NodeId, Resource};
use std::io::Read;
use struson::reader::{JsonReader, JsonStreamReader, ReaderError, ReaderSettings};

/// Reads a call tree.
///
/// # Errors
/// What is no JSON, or not of this form.
pub fn read(reader: impl Read) -> Result<Arcflow, Error> {
    // Recursive programs nest deeply; a path would take memory by depth for every error message.
    let settings = ReaderSettings {
        max_nesting_depth: None,
        track_path: false,
        restrict_number_values: false,
        ..ReaderSettings::default()
    };
    let mut json = Json { reader: JsonStreamReader::new_custom(reader, settings) };
    let (mut resources, mut consumers, mut occurrences, mut model) = (None, None, None, None);
    json.reader.begin_object()?;
    while json.reader.has_next()? {
        match json.reader.next_name_owned()?.as_str() {
            "resources" => resources = Some(json.resources()?),
            "consumers" => consumers = Some(json.reader.next_string()?),
            "occurrences" => occurrences = Some(json.reader.next_string()?),
            "tree" => {
                let resources =
                    resources.take().ok_or_else(|| json.error("`resources` come before `tree`"))?;
                model = Some(json.tree(resources)?);
            }
            _ => json.reader.skip_value()?,
        }
    }
    json.reader.end_object()?;
    json.reader.consume_trailing_whitespace()?;
    let mut model = model.ok_or_else(|| Error::CallTree("there is no `tree`".into()))?;
    model.consumers = consumers.unwrap_or(model.consumers);
    model.occurrences = occurrences.unwrap_or(model.occurrences);
    Ok(model)
}

/// A node whose object has begun.
#[derive(Default)]
struct Open {
    name: Option<String>,
    kind: Option<Kind>,
    n: u64,
    base: Vec<f64>,
    /// The node, once it is known.
    id: Option<NodeId>,
}

struct Json<R: Read> {
    reader: JsonStreamReader<R>,
}

impl<R: Read> Json<R> {
    fn error(&self, reason: impl std::fmt::Display) -> Error {
        Error::CallTree(format!("{reason} at {}", self.reader.current_position(false)))
    }

    fn resources(&mut self) -> Result<Vec<Resource>, Error> {
        let mut resources = Vec::new();
        self.reader.begin_array()?;
        while self.reader.has_next()? {
            let (mut name, mut unit) = (None, String::new());
            self.reader.begin_object()?;
            while self.reader.has_next()? {
                match self.reader.next_name()? {
                    "name" => name = Some(self.reader.next_string()?),
                    "unit" => unit = self.reader.next_string()?,
                    _ => self.reader.skip_value()?,
                }
            }
            let name = name.ok_or_else(|| self.error("a resource has no `name`"))?;
            self.reader.end_object()?;
            resources.push(Resource { name, unit });
        }
        self.reader.end_array()?;
        Ok(resources)
    }

    /// Reads the nodes with a stack of our own: each turn reads one member of the innermost node, or ends it.
    fn tree(&mut self, resources: Vec<Resource>) -> Result<Arcflow, Error> {
        let mut model = Arcflow::new(resources);
        let mut open: Vec<Open> = vec![Open { id: Some(Arcflow::ROOT), ..Open::default() }];
        self.reader.begin_object()?;
        while let Some(mut node) = open.pop() {
            if self.reader.has_next()? {
                let begins_child = self.member(&mut node, parent(&open), &mut model)?;
                open.push(node);
                if begins_child {
                    open.push(Open::default());
                }
                continue;
            }
            let id = self.identify(&mut node, parent(&open), &mut model)?;
            model.meet(id, node.n);
            for (sum, value) in model.base_mut(id).iter_mut().zip(&node.base) {
                *sum += value;
            }
            self.reader.end_object()?;
            if open.is_empty() {
                break;
            }
            if self.reader.has_next()? {
                self.reader.begin_object()?;
                open.push(Open::default());
            } else {
                self.reader.end_array()?;
            }
        }
        Ok(model)
    }

    /// Reads one member of a node; true if it was the beginning of its first child.
    fn member(&mut self, node: &mut Open, parent: NodeId, model: &mut Arcflow) -> Result<bool, Error> {
        match self.reader.next_name()? {
            "name" => node.name = Some(self.reader.next_string()?),
            "kind" => {
                let word = self.reader.next_string()?;
                let kind =
                    Kind::from_word(&word).ok_or_else(|| self.error(format!("no such kind: {word}")))?;
                node.kind = Some(kind);
            }
            "n" => node.n = self.count()?,
            "base" => {
                self.reader.begin_array()?;
                node.base.clear();
                while self.reader.has_next()? {
                    if node.base.len() == model.resources().len() {
                        return Err(self.error("`base` has more figures than there are resources"));
                    }
                    node.base.push(self.figure()?);
                }
                self.reader.end_array()?;
            }
            "children" => {
                self.identify(node, parent, model)?;
                self.reader.begin_array()?;
                if self.reader.has_next()? {
                    self.reader.begin_object()?;
                    return Ok(true);
                }
                self.reader.end_array()?;
            }
            _ => self.reader.skip_value()?,
        }
        Ok(false)
    }

    fn identify(&self, node: &mut Open, parent: NodeId, model: &mut Arcflow) -> Result<NodeId, Error> {
        if let Some(id) = node.id {
            return Ok(id);
        }
        let name =
            node.name.take().ok_or_else(|| self.error("a node's `name` comes before its `children`"))?;
        let kind = node.kind.unwrap_or(Kind::Method);
        if kind == Kind::Root {
            return Err(self.error("a root beneath another node"));
        }
        let consumer = model.consumer(&name);
        let id = model.child(parent, kind, consumer);
        node.id = Some(id);
        Ok(id)
    }

    fn count(&mut self) -> Result<u64, Error> {
        let count = self.reader.next_number()?;
        count.map_err(|_| self.error("`n` is not a whole number, or out of range"))
    }

    fn figure(&mut self) -> Result<f64, Error> {
        let figure = lines::number(self.reader.next_number_as_str()?.as_bytes());
        figure.ok_or_else(|| self.error("a figure is out of range"))
    }
}

fn parent(open: &[Open]) -> NodeId {
    open.last().and_then(|node| node.id).unwrap_or(Arcflow::ROOT)
}

impl From<ReaderError> for Error {
    fn from(error: ReaderError) -> Error {
        match error {
            ReaderError::IoError { error, .. } => Error::Io(error),
            other => Error::CallTree(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"resources":[{"name":"wall","unit":"ns"}],"more":[{"x":1}],"tree":"#;

    #[test]
    fn members_may_be_missing_or_unknown() {
        let text = r#"{"name":"r","kind":"root","cum":[9],"children":[
            {"name":"a","children":[],"n":2,"base":[1.5]}, {"name":"a","n":1,"base":[2]},
            {"name":"t","kind":"thread","children":[{"name":"b","base":[]}]}]},"consumers":"functions"} "#;
        let model = read(format!("{HEAD}{text}").as_bytes()).unwrap();
        let rows: Vec<_> =
            model.nodes().iter().map(|n| (n.parent.0, model.name(n.consumer), n.kind, n.n)).collect();
        let expected = [
            (0, "(root)", Kind::Root, 0),
            (0, "a", Kind::Method, 3),
            (0, "t", Kind::Thread, 0),
            (2, "b", Kind::Method, 0),
        ];
        assert_eq!(rows, expected);
        assert_eq!(model.cum(), [3.5, 3.5, 0.0, 0.0]);
        assert_eq!(model.consumers, "functions");
    }

    #[test]
    fn a_wrong_tree_is_refused() {
        for (text, message) in [
            (r#"{"children":[{"children":[]}]}}"#, "a node's `name` comes before its `children`"),
            (r#"{"children":[{"name":"a","base":[1,2]}]}}"#, "more figures than there are resources"),
            (r#"{"children":[{"name":"a","kind":"x"}]}}"#, "no such kind: x"),
            (r#"{"children":[{"name":"a","n":-1}]}}"#, "`n` is not a whole number"),
            (r#"{"children":[{"name":"a","base":[1e400]}]}}"#, "a figure is out of range"),
            (r#"{"children":[{"name":"a","kind":"root"}]}}"#, "a root beneath"),
            (r#"{"children":[{"name":"a""#, "syntax error"),
            (r#"{}} x"#, "syntax error"),
            (r#"7}"#, "expected JSON value type Object"),
        ] {
            let error = read(format!("{HEAD}{text}").as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        assert!(read(&b"{}"[..]).unwrap_err().to_string().contains("there is no `tree`"));
        assert!(read(&br#"{"tree":{}}"#[..]).unwrap_err().to_string().contains("come before `tree`"));
    }
}
