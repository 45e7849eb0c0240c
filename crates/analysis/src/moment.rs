//! A session at one moment: its methods and threads in one resource, to be compared with what they were at a moment before, while the program
//! goes on.

use std::collections::HashMap;

use crate::arcs::Arcs;
use crate::model::{Arcflow, Kind};
use crate::report::labels::Labels;
use crate::report::{self, Options};
use crate::session::{ProfileFile, Session};
use crate::text::{below, quantity};
use crate::uncertainty::{Uncertainty, accompanies};

/// The figures of a method, or of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Calls; of a thread those of all its methods.
    pub calls: u64,
    /// What it consumed itself; of a thread outside of methods.
    pub base: f64,
    /// The same with all below it.
    pub cum: f64,
}

/// A method, or a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What tells it from others at every moment.
    pub name: String,
    /// What it is called for people.
    pub label: String,
    /// Up to this moment.
    pub now: Figures,
}

/// What of a session is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The resource of the figures, and all that there are.
    pub resource: String,
    pub unit: String,
    /// Names of all resources.
    pub resources: Vec<String>,
    /// Methods, irrespective of context.
    pub methods: Vec<Row>,
    /// Threads, and pools of threads.
    pub threads: Vec<Row>,
    /// How many threads there were, those that ended too.
    pub thread_count: u64,
    pub total: Figures,
    /// What a row without samples consumed less than; none: the resource is not sampled.
    pub unmet: Option<f64>,
    /// ns since the start of the recording; none: the session is of texts, or of several processes.
    pub elapsed: Option<u64>,
    /// The program still runs.
    pub is_live: bool,
    /// What the programs are called.
    pub programs: String,
}

impl Moment {
    /// Of a session; `resource`: its name, or the one that reports show first.
    ///
    /// # Errors
    /// A resource that the session does not have.
    pub fn of(session: &Session, resource: Option<&str>) -> Result<Moment, report::Error> {
        let model = &session.model;
        let asked: Vec<String> = resource.map(str::to_owned).into_iter().collect();
        let shown = Options { resources: &asked, ..Options::default() }.resources(model)?;
        let Some(&r) = shown.first() else { return Err(report::Error::NoResource) };
        let arcs = Arcs::new(model);
        let labels = Labels::new(model, &Options::default());
        let mut methods = Vec::new();
        for id in arcs.ids() {
            let function = arcs.function(id);
            if matches!(function.kind, Kind::Method | Kind::Deeper) {
                let name = model.name(function.consumer);
                let now =
                    Figures { calls: function.calls, base: arcs.self_base(id)[r], cum: arcs.self_cum(id)[r] };
                methods.push(Row { name: name.to_owned(), label: labels.of(name).into_owned(), now });
            }
        }
        let calls = methods.iter().map(|row| row.now.calls).sum();
        let cum = arcs.total()[r];
        let all = model.resources().iter().filter(|resource| !accompanies(resource));
        let files = &session.profiles[..];
        Ok(Moment {
            resource: model.resources()[r].name.clone(),
            unit: model.resources()[r].unit.clone(),
            resources: all.map(|resource| resource.name.clone()).collect(),
            methods,
            threads: threads(model, r),
            thread_count: files.iter().map(report::screen::threads).sum(),
            unmet: Uncertainty::of(model, r).bound(&vec![0.0; model.resources().len()]),
            total: Figures { calls, base: cum, cum },
            elapsed: match files {
                [file] => Some(elapsed(file)),
                _ => None,
            },
            is_live: files.iter().any(|file| file.is_live),
            programs: files.iter().map(ProfileFile::label).collect::<Vec<_>>().join(", "),
        })
    }

    /// A figure of a row as reports print it.
    pub fn figure(&self, value: f64) -> String {
        match self.unmet {
            Some(bound) if value == 0.0 => below(bound, &self.unit),
            _ => quantity(value, &self.unit),
        }
    }

    /// What each row of a list has more than the row of its name had before.
    pub fn since(now: &[Row], before: &[Row]) -> Vec<Figures> {
        let before: HashMap<&str, &Figures> =
            before.iter().map(|row| (row.name.as_str(), &row.now)).collect();
        now.iter().map(|row| row.now.less(before.get(row.name.as_str()).copied())).collect()
    }
}

impl Figures {
    /// What it is more than before.
    #[must_use]
    pub fn less(&self, before: Option<&Figures>) -> Figures {
        let before = before.copied().unwrap_or_default();
        Figures {
            calls: self.calls.saturating_sub(before.calls),
            base: self.base - before.base,
            cum: self.cum - before.cum,
        }
    }
}

/// Threads by process and name.
fn threads(model: &Arcflow, r: usize) -> Vec<Row> {
    let (cum, width) = (model.cum(), model.resources().len());
    let several = model.nodes().iter().filter(|node| node.kind == Kind::Process).count() > 1;
    let mut rows: Vec<Row> = Vec::new();
    let mut within: Vec<Option<usize>> = vec![None; model.nodes().len()];
    for id in model.ids().skip(1) {
        let (at, node) = (id.0 as usize, model.node(id));
        within[at] = within[node.parent.0 as usize];
        if node.kind == Kind::Thread {
            within[at] = Some(rows.len());
            let above = model.node(node.parent);
            let process = if above.kind == Kind::Process { model.name(above.consumer) } else { "" };
            let thread = model.name(node.consumer);
            let label = if several { format!("{thread} of {process}") } else { thread.to_owned() };
            let now = Figures { calls: 0, base: model.base(id)[r], cum: cum[at * width + r] };
            rows.push(Row { name: format!("{process}\0{thread}"), label, now });
        } else if let (Some(row), Kind::Method | Kind::Deeper) = (within[at], node.kind) {
            rows[row].now.calls = rows[row].now.calls.saturating_add(node.n);
        }
    }
    rows
}

/// ns from the start of the recording to the last moment that is known.
fn elapsed(file: &ProfileFile) -> u64 {
    let profile = &file.profile;
    let threads = profile.threads.iter().map(|thread| thread.last_event.max(thread.end));
    let last = threads.max().unwrap_or(0).max(profile.beat_clock).max(profile.shutdown_clock);
    last.saturating_sub(profile.start_clock)
}
