//! The model, and timelines, as other tools read them.
//!
//! | format | from the model | from a timeline | read by |
//! |---|---|---|---|
//! | [`call_tree`] | all of it | | [`input`](crate::input) |
//! | [`chrome`] | one figure, laid out | as it is | chrome://tracing, ui.perfetto.dev |
//! | [`firefox`] | one figure, laid out | as it is | profiler.firefox.com |
//! | [`jacoco`] | [coverage](crate::coverage), without counts | | SonarQube, Jenkins, GitLab and others |
//! | [`lcov`] | coverage | | genhtml, editors, code hosts |
//! | [`folded`] | one figure | | flamegraph.pl, inferno, speedscope, .. |
//! | [`otlp`] | | remote calls as spans | OpenTelemetry collectors, Jaeger and others |
//! | [`otlp_metrics`] | | durations of calls, as histograms | OpenTelemetry collectors, Prometheus and others |
//! | [`otlp_profiles`] | all figures | | OpenTelemetry collectors that know the signal |
//! | [`parquet`] | all figures, of each process | | DuckDB, Spark, ClickHouse, pandas and others |
//! | [`perfetto`] | one figure, laid out | as it is | ui.perfetto.dev, trace_processor |
//! | [`pprof`] | all figures | | go tool pprof, many services |
//! | [`speedscope`] | one figure | as it is | speedscope.app |
//! | [`tau`] | all figures | | ParaProf, Hatchet |
//! | [`xml`] | | objects, collections, threads and monitors | readers of the XML trace of JVMPI and TPTP profilers |
//!
//! [`format`](mod@format) is the list of them, and chooses between model and timeline. [`timeline`] is how events get
//! into the formats that show when something happened: those of a [`trace`], or a model laid out; and what threads
//! waited for, [`spans`] of it, and [`remote`] calls. The same model gives the same bytes.

pub mod call_tree;
pub mod chrome;
pub mod error;
pub mod firefox;
pub mod folded;
pub mod format;
pub mod jacoco;
pub mod lcov;
pub mod otlp;
pub mod otlp_metrics;
pub mod otlp_profiles;
mod otlp_resource;
pub mod parquet;
pub mod perfetto;
pub mod pprof;
pub mod remote;
pub mod size;
pub mod spans;
pub mod speedscope;
mod strings;
pub mod tau;
pub mod timeline;
pub mod trace;
mod walk;
pub mod xml;

use crate::model::{Arcflow, NodeId, Resource};

/// Which of a node's figures a format shows that has room for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// How often the context was met.
    Occurrences,
    /// What it consumed itself of the resource of this index.
    Base(usize),
}

impl Figure {
    /// The first resource that was consumed at all; how often a context was met if there is none.
    pub fn first(model: &Arcflow) -> Figure {
        let consumed = |&index: &usize| model.ids().any(|id| model.base(id)[index] != 0.0);
        (0..model.resources().len()).find(consumed).map_or(Figure::Occurrences, Figure::Base)
    }

    /// The resource of a name, or what n counts, such as `calls`.
    pub fn named(model: &Arcflow, name: &str) -> Option<Figure> {
        let index = model.resources().iter().position(|resource| resource.name == name);
        index.map(Figure::Base).or_else(|| (model.occurrences == name).then_some(Figure::Occurrences))
    }

    /// A node's own. How often there was a process or thread is not what others mean by calls.
    pub fn of(self, model: &Arcflow, id: NodeId) -> f64 {
        match self {
            Figure::Occurrences if walk::starts_track(model, id) => 0.0,
            Figure::Occurrences => model.node(id).n as f64,
            Figure::Base(index) => model.base(id)[index],
        }
    }

    /// Its name and unit.
    pub fn resource(self, model: &Arcflow) -> Resource {
        match self {
            Figure::Occurrences => Resource { name: model.occurrences.clone(), unit: String::new() },
            Figure::Base(index) => model.resources()[index].clone(),
        }
    }
}
