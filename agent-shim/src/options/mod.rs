//! The option string of the agent, read and checked: the keys are on the page of [`instrument_control::keys`].
//!
//! Relative paths start from the working directory of the virtual machine.

mod given;
mod rules;
#[cfg(test)]
mod tests;

use crate::heap::Classes;
use given::Given;
use instrument_control::keys;
use instrument_control::latency::Kept;
use instrument_control::selection;
use instrument_control::subclasses;
use instrument_control::word::{
    self, Clock, LibraryCalls, Owners, Record, SampleRate, SampledEvent, Transform,
};
use instrument_names::pattern::split_list;
use instrument_names::selection::Selection;
use instrument_names::word::Word;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::Transforms;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use given::roots as parse_roots;

/// How long the search for holders may take, unless the user says.
const HOLDERS: Duration = Duration::from_secs(10);
/// The longest standstill for classes that are loaded, unless the user says.
const MAX_PAUSE: Duration = Duration::from_millis(keys::DEFAULT_MAX_PAUSE_MS);

/// Whether requests to the program are answered, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux says who asks"))]
pub(crate) enum Requests {
    /// In the directory of the user.
    #[default]
    Usual,
    /// Nowhere.
    Off,
    /// At this path.
    At(PathBuf),
}

/// What a recording may do that comes into a program which runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest standstill for classes that are loaded.
    pub(crate) max_pause: Duration,
    /// How long it lasts, if nobody ends it before.
    pub(crate) lasts: Option<Duration>,
    /// It ends with whoever asked for it.
    pub(crate) is_tied: bool,
}

/// What the user wants.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) limits: Limits,
    /// For the classes of the program.
    pub(crate) filter: Filter,
    /// Excludes the classes that are not rewritten at all.
    pub(crate) untouched: Filter,
    /// For the classes of the JDK; none: they stay as they are.
    pub(crate) jdk_filter: Option<Filter>,
    pub(crate) transforms: Transforms,
    pub(crate) library_calls: LibraryCalls,
    /// Native methods of the program get wrappers.
    pub(crate) native: bool,
    /// Patterns, one each.
    pub(crate) roots: Vec<String>,
    /// Whose durations are kept.
    pub(crate) latency: Vec<Kept>,
    /// Only what the roots can call is rewritten.
    pub(crate) subgraph: bool,
    pub(crate) regions: Vec<Region>,
    /// What is recorded, as the profile says it; without the roots, which a property may replace.
    pub(crate) selection: Selection,
    /// Rules for calls of the user's own methods.
    pub(crate) probes: Option<PathBuf>,
    pub(crate) ids: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) dump: Option<PathBuf>,
    pub(crate) heap_dump: Option<PathBuf>,
    pub(crate) ctl: Requests,
    /// None: the counter, if it can be had.
    pub(crate) clock: Option<Clock>,
    /// Threads and their waits are recorded.
    pub(crate) threads: Option<Owners>,
    /// Nothing is recorded before somebody asks for it.
    pub(crate) armed: bool,
    /// Classes are rewritten from the first one on.
    pub(crate) early: bool,
    /// The classes whose objects are recorded; none: objects are not.
    pub(crate) heap: Option<Heap>,
    /// Stacks are sampled, so many times in a second where that is CPU time, and nothing is rewritten.
    pub(crate) samples: Option<(u32, SampledEvent)>,
    /// Keys and values for the recorder.
    pub(crate) recorder: Vec<(&'static str, String)>,
}

/// What is to be known of objects.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) classes: Classes,
    /// The include and exclude patterns, as they were given.
    pub(crate) patterns: [Vec<String>; 2],
    /// Each gets a biography.
    pub(crate) biographies: bool,
    /// The virtual machine reports every object; no class is rewritten for it.
    pub(crate) all: bool,
    /// How long the search for who holds leak suspects may take.
    pub(crate) holders: Duration,
}

impl Heap {
    /// Whether the constructor of `java.lang.Object` is rewritten to tell of objects.
    pub(crate) fn rewrites_object(&self) -> bool {
        !self.all
    }
}

impl Options {
    /// Reads an option string.
    ///
    /// # Errors
    /// What is wrong with it, in one sentence.
    pub(crate) fn parse(text: &str) -> Result<Options, String> {
        let mut given = Given::read(text)?;
        let samples = samples(&given)?;
        if given.library_calls == LibraryCalls::All {
            given.include.clear();
        }
        let mut filter = Filter::new(&given.include, &given.exclude).map_err(|error| error.to_string())?;
        let mut jdk_filter = jdk_filter(&given)?;
        let mut subclasses_of = Vec::new();
        if let Some(path) = &given.subclasses {
            let bytes =
                std::fs::read(path).map_err(|error| format!("subclasses={}: {error}", path.display()))?;
            let (above, classes) = subclasses::read(&bytes);
            subclasses_of = above;
            for filter in [Some(&mut filter), jdk_filter.as_mut()].into_iter().flatten() {
                filter.restrict_to(classes.iter().map(|&class| class.into()).collect());
            }
        }
        let heap = heap(&given)?;
        let has_others = !given.regions.is_empty() || given.probes.is_some();
        let defaults = || Transform::set(Transform::defaults(has_others, given.record));
        let mut transforms = given.transforms.unwrap_or_else(defaults);
        if let Some(heap) = &heap {
            if transforms.allocation {
                return Err("heap sees what transform=allocation sees, and more: one of them".to_owned());
            }
            transforms.array_allocation = !heap.all;
        }
        rules::check(&given, transforms, heap.is_some())?;
        let selection = selection(&given, transforms, &filter).with(Selection::SUBCLASSES_OF, &subclasses_of);
        transforms.reflection = given.subgraph;
        let untouched = Filter::new(&[], &given.untouched).map_err(|error| error.to_string())?;
        Ok(Options {
            limits: given.limits,
            filter,
            untouched,
            jdk_filter,
            transforms,
            library_calls: given.library_calls,
            native: given.native,
            armed: given.armed,
            early: given.early,
            heap,
            roots: given.roots,
            latency: given.latency,
            subgraph: given.subgraph,
            regions: given.regions,
            selection,
            probes: given.probes,
            ids: given.ids,
            report: given.report,
            dump: given.dump,
            heap_dump: given.heap_dump,
            ctl: given.ctl,
            clock: given.clock,
            threads: given.threads.then_some(given.owners),
            samples,
            recorder: given.recorder,
        })
    }
}

/// What is sampled, and how often, if that is what is recorded.
fn samples(given: &Given) -> Result<Option<(u32, SampledEvent)>, String> {
    let (rate, event) = (given.sample_rate, given.sample_event);
    if given.record != Record::Samples {
        return match (rate, event) {
            (Some(_), _) => Err("sample-rate goes with record=samples".to_owned()),
            (_, Some(_)) => Err("sample-event goes with record=samples".to_owned()),
            _ => Ok(None),
        };
    }
    let event = event.unwrap_or(SampledEvent::CPU);
    if rate.is_some() && !event.event.is_time() {
        return Err(format!(
            "sample-rate is of time: write sample-event={}:N in its place",
            event.event.word()
        ));
    }
    Ok(Some((rate.unwrap_or(SampleRate::USUAL), event)))
}

/// The classes of the JDK: those that a pattern names which does not begin with a wildcard.
fn jdk_filter(given: &Given) -> Result<Option<Filter>, String> {
    let lists = given.include.iter().flat_map(|list| split_list(list, &[':']));
    let named: Vec<&str> = lists.filter(|pattern| !pattern.starts_with(['*', '?'])).collect();
    if named.is_empty() && given.library_calls != LibraryCalls::All {
        return Ok(None);
    }
    let excluded: Vec<&str> = given.exclude.iter().map(String::as_str).collect();
    Filter::new(&named, &excluded).map(Some).map_err(|error| error.to_string())
}

fn heap(given: &Given) -> Result<Option<Heap>, String> {
    let holders_without = || "heap-holders goes with heap=objects".to_owned();
    let Some((_, level)) = given.recorder.iter().find(|(key, _)| *key == keys::HEAP) else {
        if !given.heap_include.is_empty() || !given.heap_exclude.is_empty() || given.heap_all {
            return Err(
                "heap-include and heap-exclude go with heap=counts or heap=objects, and so does heap-all"
                    .to_owned(),
            );
        }
        return if given.heap_holders.is_some() { Err(holders_without()) } else { Ok(None) };
    };
    let biographies = level == word::Heap::Objects.word();
    if given.heap_holders.is_some() && !biographies {
        return Err(holders_without());
    }
    Ok(Some(Heap {
        classes: Classes::new(&given.heap_include, &given.heap_exclude)?,
        patterns: [given.heap_include.clone(), given.heap_exclude.clone()],
        biographies,
        all: given.heap_all,
        holders: given.heap_holders.unwrap_or(HOLDERS),
    }))
}

/// What is recorded, as the profile says it.
fn selection(given: &Given, transforms: Transforms, filter: &Filter) -> Selection {
    let of_heap = given.recorder.iter().filter(|(key, _)| *key == keys::HEAP).map(|(_, value)| value);
    selection::selection(transforms, given.library_calls, filter, &given.regions)
        .with(keys::NO_REWRITE, &given.untouched)
        .with(keys::SUBGRAPH, given.subgraph.then_some("on"))
        .with(keys::NATIVE, given.native.then_some(selection::NATIVE_WRAPPED))
        .with(keys::EARLY, given.early.then_some("on"))
        .with(keys::HEAP_ALL, given.heap_all.then_some("on"))
        .with(Selection::HEAP, of_heap)
        .with(keys::HEAP_INCLUDE, &given.heap_include)
        .with(keys::HEAP_EXCLUDE, &given.heap_exclude)
}
