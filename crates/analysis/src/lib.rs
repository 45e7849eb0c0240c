//! From records to answers: the arcflow model, what fills it, what is printed from it.
//!
//! A [`session::Request`] names files, profiles or texts of other tools, and reads them into one [`Arcflow`]: contexts, each with its calls and
//! what it consumed. [`arcs::Arcs`] adds that up by method and caller; [`report`] and [`export`] print it; [`invariants`] says
//! whether it adds up.
//!
//! ```
//! use instrument_analysis::arcs::Arcs;
//! use instrument_analysis::report::{self, Format, Options};
//! use instrument_analysis::{input, invariants};
//!
//! // Stacks with their samples, as many profilers print them. Profiles: `session::Session::read`.
//! let stacks = "main;price;load 30\nmain;price 10\nmain;show 5\n";
//! let model = input::read(stacks.as_bytes())?.model;
//! let arcs = Arcs::new(&model);
//! assert!(invariants::check(&model, &arcs).violations.is_empty());
//!
//! // What `price` consumed with all that it called.
//! let price = arcs.ids().find(|id| model.name(arcs.function(*id).consumer) == "price");
//! assert_eq!(price.map(|id| arcs.self_cum(id)[0]), Some(40.0));
//!
//! let mut table = Vec::new();
//! let options = Options { format: Format::Csv, ..Options::default() };
//! report::xprof::write(&mut table, &model, &arcs, &options)?;
//! assert!(String::from_utf8(table)?.lines().any(|row| row.starts_with("load,")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No file makes it panic; what is wrong with one is an error that names it, or damage that is listed. The keys of JSON and the columns of
//! CSV are stable; text is for people and may change. For names in Rust the same is promised as by `instrument-rewriter`.
//!
//! | module | |
//! |---|---|
//! | [`model`] | AF0, the one model: consumer contexts, how often each was met, what each consumed |
//! | [`origin`] | source file and first line of methods |
//! | [`session`] | files, read into the model, with what goes with them: what reports, exports and checks ask |
//! | [`input`] | events, folded stacks, call trees, recordings of JFR and pprof, read into the model |
//! | `beside` | what others recorded of the same run, as further resources of a profile |
//! | [`replay`] | the events of traces, call by call or as the calling context trees that they make |
//! | [`load`] | profiles, read into the model |
//! | [`calibration`] | what the probes cost, taken out of what they measured |
//! | [`correction`] | whether that can be done, and if not, why |
//! | [`gate`] | baselines and budgets over exact figures, and what grew against them |
//! | [`context_key`] | a key of a context that is the same in every run, file and build |
//! | [`stable_name`] | names without the numbers that compilers and generators hand out |
//! | [`heap`] | which objects were made where, how long they lived, what leaks |
//! | [`waits`] | what threads waited for |
//! | [`window`] | what happened since a snapshot |
//! | [`twice`] | the counts of one run and the times of another one in one profile |
//! | [`fleet`] | the processes of a dataset as one profile |
//! | [`merge`] | profiles of several processes: which remote call is which, and the execution tree over all of them |
//! | [`arcs`] | its consumers irrespective of context, and the arcs between them |
//! | [`invariants`] | what must hold between the figures; checked on every run |
//! | [`timeline`] | when everything happened, thread by thread, and what a thread did in a window of time |
//! | [`latency`] | how long single calls took, which were the slowest, and what these did |
//! | [`trace_index`] | what is known of a trace after it was read once, in memory and in a folder |
//! | [`text`] | figures and names as people read them |
//! | [`report`] | xprof, xtree, xarc and the others, as text, JSON and CSV |
//! | [`export`] | the model, and timelines, as other tools read them |
//! | [`page`] | the model in one compact document, for a page that shows it |
//! | [`moment`] | methods and threads of a session at one moment, and what changed since another |
//! | [`uncertainty`] | how sure a figure is |
//! | [`thread_time`] | which resources are thread time, and its running and waiting parts |
//!
//! It depends on the profile format and on names.

pub mod advice;
pub mod arcs;
mod beside;
pub mod calibration;
pub mod context_key;
pub mod correction;
pub mod coverage;
mod disturbance;
pub mod export;
pub mod fleet;
pub mod gate;
mod hash;
pub mod heap;
mod in_place;
pub mod input;
pub mod invariants;
pub mod junit;
pub mod latency;
pub mod load;
pub mod merge;
pub mod model;
pub mod moment;
pub mod origin;
pub mod page;
mod pprof;
pub mod replay;
pub mod report;
pub mod session;
pub mod stable_name;
pub mod text;
pub mod thread_time;
pub mod timeline;
pub mod trace_index;
pub mod twice;
pub mod uncertainty;
pub mod waits;
pub mod window;

pub use model::{Arcflow, Kind, NodeId, Resource, Window};

// Shared with the tests outside, which know the crate by its name.
#[cfg(test)]
extern crate self as instrument_analysis;
#[cfg(test)]
#[path = "../tests/common/notes.rs"]
mod notes;
