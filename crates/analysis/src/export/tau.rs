//! TAU profiles, as ParaProf, pprof of TAU and Hatchet read them: a file `profile.NODE.CONTEXT.THREAD` for each thread, in a
//! directory `MULTI__METRIC` for each resource if there are several.
//!
//! Processes are nodes, the context is 0. The first row of a file is the thread, `THREAD=main` as TAU names it for Java: its life, if the
//! model has it. Then there is one for each consumer and, unless they are not wanted, one for each context, named by its path. Methods
//! are in the group of their package, too (`TAU_JAVA|java.util`), so that a viewer can show or hide it. Times are µs. A consumer's
//! inclusive figure counts its outermost calls only. The thread's own row is rounded to whole numbers, because readers expect
//! them there. A name cannot hold `"`: `'` stands for it. What ends a line or controls a terminal is escaped ([`printable`]).

use super::size;
use super::timeline::ns_per_unit;
use super::walk::{Step, Track, Tree};
use crate::model::{Arcflow, Consumer, NodeId, Resource};
use instrument_names::pattern::{class_and_method, package};
use instrument_names::printable::printable;
use instrument_names::signature::value_kind;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Stands before the name of a thread.
const THREAD: &str = "THREAD=";

/// Which rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Consumers only.
    Consumers,
    /// Consumers and contexts.
    Contexts,
}

/// Writes a whole model as files that `create` makes, by their path within the profile's directory.
///
/// # Errors
/// Those of `create` and of what it gives; a model without a resource.
pub fn write<W: Write>(
    model: &Arcflow,
    rows: Rows,
    mut create: impl FnMut(&Path) -> io::Result<W>,
) -> io::Result<()> {
    let tree = Tree::new(model);
    let tracks = tree.tracks();
    if model.resources().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "TAU profiles need a resource"));
    }
    for (index, resource) in model.resources().iter().enumerate() {
        let metric = metric(resource);
        let several = model.resources().len() > 1;
        for &track in &tracks {
            let file = format!("profile.{}.0.{}", track.process, track.number);
            let path =
                if several { PathBuf::from(format!("MULTI__{metric}")).join(file) } else { file.into() };
            let mut out = create(&path)?;
            let time = ns_per_unit(&resource.unit);
            // A single metric of time has no name of its own.
            let plain = !several && time.is_some();
            let title = if plain { String::new() } else { format!("_MULTI_{metric}") };
            File { tree: &tree, track, index, ns: time }.write(rows, &title, &metric, &mut out)?;
            out.flush()?;
        }
    }
    Ok(())
}

/// About how many bytes [`write`] writes of contexts.
pub fn size(model: &Arcflow) -> u64 {
    // Figures, and the group of the row.
    const ROW: u64 = 60;
    let rows = size::stacks(model, |_| true, |name| name.len() + 4, ROW);
    rows.saturating_mul(model.resources().len() as u64)
}

/// Readers know metrics of time by their names.
fn metric(resource: &Resource) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = resource.name.chars().map(word).collect();
    if ns_per_unit(&resource.unit).is_some() && !name.contains("TIME") { name + "_TIME" } else { name }
}

/// Figures of a row.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    calls: u64,
    /// Calls that it made.
    subroutines: u64,
    exclusive: f64,
    inclusive: f64,
}

/// One thread and metric.
struct File<'t, 'm> {
    tree: &'t Tree<'m>,
    track: Track<'m>,
    index: usize,
    /// What a unit is, if it is of time.
    ns: Option<f64>,
}

impl File<'_, '_> {
    fn write(&self, rows: Rows, title: &str, metric: &str, out: &mut dyn Write) -> io::Result<()> {
        let contexts = self.contexts();
        let consumers = self.consumers(&contexts);
        let (_, thread) = contexts[0];
        let paths = if rows == Rows::Contexts { contexts.len() - 1 } else { 0 };
        writeln!(out, "{} templated_functions{title}", 1 + consumers.len() + paths)?;
        let thread_name = xml(&format!("{} {}", self.track.process_name, self.track.name));
        writeln!(
            out,
            "# Name Calls Subrs Excl Incl ProfileCalls # <metadata><attribute><name>Metric Name</name>\
             <value>{metric}</value></attribute><attribute><name>Java Thread Name</name>\
             <value>{}</value></attribute></metadata>",
            thread_name.trim()
        )?;
        let whole = Row {
            exclusive: thread.exclusive.round(),
            inclusive: thread.inclusive.round(),
            calls: 1,
            ..thread
        };
        write_row(&self.thread(), whole, "TAU_DEFAULT", out)?;
        for (consumer, row) in consumers {
            let of = self.tree.model.name(consumer);
            write_row(&self.name(of), row, &self.groups("TAU_JAVA", of), out)?;
        }
        if rows == Rows::Contexts {
            self.write_paths(&contexts, out)?;
        }
        writeln!(out, "0 aggregates")
    }

    fn thread(&self) -> String {
        // `=>` stands between the parts of a path.
        format!("{THREAD}{}", name(self.track.name).replace("=>", "->"))
    }

    /// TAU's own group, and that of the package of a method. `|` stands between groups.
    fn groups(&self, own: &str, of: &str) -> String {
        let package = match &*self.tree.model.consumers {
            _ if of.starts_with('(') || value_kind(of).is_some() => "",
            "packages" => of,
            "classes" => package(of),
            _ => class_and_method(of).map_or("", |(class, _)| package(class)),
        };
        match name(package) {
            package if package.is_empty() => own.to_owned(),
            package => format!("{own}|{}", package.replace('|', "_")),
        }
    }

    /// With the place of a method in the source as TAU writes it: file, line, and column, which is not known.
    fn name(&self, of: &str) -> String {
        match self.tree.model.origins.path(of) {
            Some((file, line)) => format!("{} [{{{}}} {{{line},0}}]", name(of), name(&file)),
            None => name(of),
        }
    }

    /// The row of each context, the thread first, callers before what they called.
    fn contexts(&self) -> Vec<(NodeId, Row)> {
        let model = self.tree.model;
        let mut contexts: Vec<(NodeId, Row)> = Vec::new();
        // Places of the contexts that are open.
        let mut open: Vec<usize> = Vec::new();
        for step in self.tree.walk_track(self.track) {
            match step {
                Step::Enter(id) => {
                    let calls = model.node(id).n;
                    if let Some(&caller) = open.last() {
                        contexts[caller].1.subroutines = contexts[caller].1.subroutines.saturating_add(calls);
                    }
                    let value = model.base(id)[self.index];
                    let exclusive = self.ns.map_or(value, |ns| value * ns / 1e3);
                    open.push(contexts.len());
                    contexts.push((id, Row { calls, subroutines: 0, exclusive, inclusive: exclusive }));
                }
                Step::Leave(_) => {
                    let inclusive = open.pop().map_or(0.0, |place| contexts[place].1.inclusive);
                    if let Some(&caller) = open.last() {
                        contexts[caller].1.inclusive += inclusive;
                    }
                }
            }
        }
        contexts
    }

    fn consumers(&self, contexts: &[(NodeId, Row)]) -> BTreeMap<Consumer, Row> {
        let model = self.tree.model;
        let mut rows: BTreeMap<Consumer, Row> = BTreeMap::new();
        let mut open: BTreeMap<Consumer, usize> = BTreeMap::new();
        let mut next = contexts.iter();
        for step in self.tree.walk_track(self.track) {
            match step {
                Step::Enter(id) => {
                    let Some((_, context)) = next.next().filter(|_| id != self.track.root) else { continue };
                    let depth = open.entry(model.node(id).consumer).or_default();
                    *depth += 1;
                    let row = rows.entry(model.node(id).consumer).or_default();
                    row.calls = row.calls.saturating_add(context.calls);
                    row.subroutines = row.subroutines.saturating_add(context.subroutines);
                    row.exclusive += context.exclusive;
                    row.inclusive += if *depth == 1 { context.inclusive } else { 0.0 };
                }
                Step::Leave(id) => {
                    if let Some(depth) =
                        open.get_mut(&model.node(id).consumer).filter(|_| id != self.track.root)
                    {
                        *depth -= 1;
                    }
                }
            }
        }
        rows
    }

    fn write_paths(&self, contexts: &[(NodeId, Row)], out: &mut dyn Write) -> io::Result<()> {
        let mut path = self.thread();
        let mut ends = Vec::new();
        let mut next = contexts.iter();
        for step in self.tree.walk_track(self.track) {
            match step {
                Step::Enter(id) => {
                    let Some((_, row)) = next.next() else { break };
                    if id != self.track.root {
                        let of = self.tree.name(id);
                        path += " => ";
                        path += &self.name(of);
                        write_row(&path, *row, &self.groups("TAU_CALLPATH", of), out)?;
                    }
                    ends.push(path.len());
                }
                Step::Leave(_) => {
                    ends.pop();
                    path.truncate(ends.last().copied().unwrap_or(0));
                }
            }
        }
        Ok(())
    }
}

fn write_row(name: &str, row: Row, group: &str, out: &mut dyn Write) -> io::Result<()> {
    let Row { calls, subroutines, exclusive, inclusive } = row;
    writeln!(out, "\"{name}\" {calls} {subroutines} {exclusive} {inclusive} 0 GROUP=\"{group}\"")
}

fn name(name: &str) -> String {
    printable(name).replace('"', "'")
}

fn xml(text: &str) -> String {
    let text = name(text).replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input;
    use std::cell::RefCell;

    /// Files by path.
    fn write_text(text: &str, rows: Rows) -> BTreeMap<String, String> {
        #[derive(Clone)]
        struct Sink<'a>(&'a RefCell<BTreeMap<String, String>>, String);
        impl Write for Sink<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let mut files = self.0.borrow_mut();
                files.entry(self.1.clone()).or_default().push_str(std::str::from_utf8(bytes).unwrap());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let files = RefCell::new(BTreeMap::new());
        let model = input::read(text.as_bytes()).unwrap().model;
        write(&model, rows, |path| Ok(Sink(&files, path.display().to_string()))).unwrap();
        files.into_inner()
    }

    #[test]
    fn recursion_is_counted_once() {
        let text = "metrics: cpu ms\n@ a<b\n0 > f\n1 > \"g\"\n3 > f\n7 < f\n7 < \"g\"\n8 < f\n";
        let files = write_text(text, Rows::Contexts);
        let expected = r#"6 templated_functions
# Name Calls Subrs Excl Incl ProfileCalls # <metadata><attribute><name>Metric Name</name><value>CPU_TIME</value></attribute><attribute><name>Java Thread Name</name><value>a&lt;b</value></attribute></metadata>
"THREAD=a<b" 1 1 0 8000 0 GROUP="TAU_DEFAULT"
"f" 2 1 6000 8000 0 GROUP="TAU_JAVA"
"'g'" 1 1 2000 6000 0 GROUP="TAU_JAVA"
"THREAD=a<b => f" 1 1 2000 8000 0 GROUP="TAU_CALLPATH"
"THREAD=a<b => f => 'g'" 1 1 2000 6000 0 GROUP="TAU_CALLPATH"
"THREAD=a<b => f => 'g' => f" 1 0 4000 4000 0 GROUP="TAU_CALLPATH"
0 aggregates
"#;
        assert_eq!(files, BTreeMap::from([("profile.0.0.0".to_owned(), expected.to_owned())]));
        let flat = write_text(text, Rows::Consumers);
        assert!(flat["profile.0.0.0"].starts_with("3 templated_functions\n"));
        assert_eq!(flat["profile.0.0.0"].lines().count(), 6);
    }

    #[test]
    fn methods_are_in_the_group_of_their_package() {
        let files = write_text(
            "metrics: cpu ms\n@ t\n0 > a.b.C.f(x.y.Z)\n1 > Main.g()\n2 < Main.g()\n2 < a.b.C.f(x.y.Z)\n",
            Rows::Contexts,
        );
        let ends: Vec<&str> =
            files["profile.0.0.0"].lines().filter_map(|line| Some(line.split_once("GROUP=")?.1)).collect();
        let expected = [
            "\"TAU_DEFAULT\"",
            "\"TAU_JAVA|a.b\"",
            "\"TAU_JAVA\"",
            "\"TAU_CALLPATH|a.b\"",
            "\"TAU_CALLPATH\"",
        ];
        assert_eq!(ends, expected);
    }

    #[test]
    fn metrics_processes_and_threads_have_files() {
        let text = "metrics: wall ns, lock waits\nprocess: p\n@ t\n0 0 > f\n9 2 < f\n@ u\n0 0 > f\nprocess: q\n@ v\n0 0 > f\n";
        let text = text.replace("lock waits", "lock-waits");
        let files = write_text(&text, Rows::Consumers);
        let expected: Vec<String> = ["MULTI__LOCK_WAITS", "MULTI__WALL_TIME"]
            .iter()
            .flat_map(|metric| ["0.0.0", "0.0.1", "1.0.0"].map(|place| format!("{metric}/profile.{place}")))
            .collect();
        assert_eq!(files.keys().cloned().collect::<Vec<_>>(), expected);
        assert!(
            files["MULTI__LOCK_WAITS/profile.0.0.0"].starts_with("2 templated_functions_MULTI_LOCK_WAITS\n")
        );
        assert!(files["MULTI__WALL_TIME/profile.0.0.0"].contains("\"f\" 1 0 0.009 0.009 0 GROUP="));
    }
}
