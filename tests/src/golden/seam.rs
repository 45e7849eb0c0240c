//! The two places where the golden tests touch the code under test: `rewrite` and `dump`.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use instrument_rewriter::class_file::{ClassFile, mutf8};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::library::{Boundary, Inputs, recorded_callees};
use instrument_rewriter::region::Region;
use instrument_rewriter::remote_methods::{RemoteIndex, RemoteMethods};
use instrument_rewriter::rewrite::{
    self, Choice, ClassRewriter, LargeMethods, MethodEvent, MethodRef, Note, Reason,
};
use instrument_rewriter::text::{self, PrintOptions};

/// Which transforms to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transforms {
    /// Those of the rewriter.
    pub of: rewrite::Transforms,
    /// The regions of the case.
    pub regions: bool,
    /// Calls of what is not among the classes of the case.
    pub library: bool,
    /// Methods without room for probes get a wrapper.
    pub wraps: bool,
}

const NONE: rewrite::Transforms = rewrite::Transforms::NONE;
/// All but `lines`, which tells of no event: the suite `lines` is about it.
const ALL: rewrite::Transforms = rewrite::Transforms { lines: false, ..rewrite::Transforms::ALL };
const METHOD_EVENTS: rewrite::Transforms = rewrite::Transforms { method_events: true, ..NONE };

/// The combinations that every case is tried with, by the name of their printed diff.
pub const COMBINATIONS: [(&str, Transforms); 15] = [
    ("method-events", Transforms { of: METHOD_EVENTS, regions: false, library: false, wraps: false }),
    (
        "allocation",
        Transforms {
            of: rewrite::Transforms { allocation: true, ..NONE },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    (
        "both",
        Transforms {
            of: rewrite::Transforms { allocation: true, ..METHOD_EVENTS },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    (
        "bytecodes",
        Transforms {
            of: rewrite::Transforms { bytecodes: true, ..METHOD_EVENTS },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    (
        "array-allocation",
        Transforms {
            of: rewrite::Transforms { array_allocation: true, ..NONE },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    (
        "thread-links",
        Transforms {
            of: rewrite::Transforms { thread_links: true, references: true, ..NONE },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    (
        "hand-over",
        Transforms {
            of: rewrite::Transforms {
                hand_over: true,
                given_tasks: true,
                references: true,
                streams: true,
                ..NONE
            },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    (
        "rmi",
        Transforms {
            of: rewrite::Transforms { rmi: true, ..NONE },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    ("regions", Transforms { of: NONE, regions: true, library: false, wraps: false }),
    (
        "waits",
        Transforms {
            of: rewrite::Transforms { waits: true, ..METHOD_EVENTS },
            regions: false,
            library: false,
            wraps: false,
        },
    ),
    ("library-calls", Transforms { of: METHOD_EVENTS, regions: false, library: true, wraps: false }),
    ("all", Transforms { of: ALL, regions: true, library: false, wraps: false }),
    ("all with library-calls", Transforms { of: ALL, regions: true, library: true, wraps: false }),
    ("wrap", Transforms { of: METHOD_EVENTS, regions: false, library: false, wraps: true }),
    (
        "wrap all",
        Transforms {
            of: rewrite::Transforms { bytecodes: false, ..ALL },
            regions: true,
            library: false,
            wraps: true,
        },
    ),
];

/// What was left as it was, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// Name and descriptor (`m(I)V`); none for the whole class.
    pub method: Option<String>,
    /// A name of the closed list, such as `method-too-large`.
    pub reason: String,
}

/// A rewritten class.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The class file; the input's own bytes where nothing changed.
    pub bytes: Vec<u8>,
    /// What was left out.
    pub skips: Vec<Skip>,
    /// The methods that got a wrapper, and whether their code has no room for other transforms.
    pub wrapped: BTreeMap<String, bool>,
    /// Outcome of the regions in this class: by name, a fault or none.
    pub regions: Vec<(String, Option<String>)>,
}

/// Method ids of one case: the index is the id, the text is `Class.name(descriptor)` with `/` in the class name; for calls of a method
/// `call Class.name(descriptor)`.
#[derive(Clone, Debug, Default)]
pub struct Ids(pub Vec<String>);

/// What the ids for calls of methods begin with.
pub const CALL: &str = "call ";

/// What is known of a case before its classes are rewritten.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Its code regions.
    pub regions: Vec<Region>,
    /// The methods that remote interfaces declare.
    pub remote_methods: Option<Arc<RemoteMethods>>,
    /// Its classes: what they do not declare is a library.
    pub inputs: Arc<Inputs>,
}

impl Known {
    /// Looks through all classes of a case.
    pub fn of<'a>(regions: Vec<Region>, classes: impl IntoIterator<Item = &'a [u8]>) -> Known {
        let mut index = RemoteIndex::default();
        let mut inputs = Inputs::new();
        for class in classes.into_iter().filter_map(|class| ClassFile::parse(class).ok()) {
            // What cannot be read is refused later.
            let _ = index.add(&class);
            inputs.add(&class);
        }
        Known { regions, remote_methods: index.resolve().map(Arc::new), inputs: Arc::new(inputs) }
    }
}

/// Rewrites one class; every method that gets an id is appended to `ids`.
///
/// # Errors
/// Never: an input that is no class is a skip of the whole class.
pub fn rewrite(class: &[u8], transforms: Transforms, known: &Known, ids: &mut Ids) -> Result<Outcome> {
    let wanted = if transforms.regions { &known.regions[..] } else { &[] };
    let mut rewriter = ClassRewriter::with_regions(transforms.of, wanted.into());
    rewriter.leave_invalid();
    rewriter.set_large_methods(if transforms.wraps { LargeMethods::Wrap } else { LargeMethods::Leave });
    rewriter.set_remote_methods(known.remote_methods.clone());
    let class_name =
        ClassFile::parse(class).and_then(|parsed| parsed.name().map(mutf8::escape)).unwrap_or_default();
    let first = ids.0.len();
    let mut methods = BTreeMap::new();
    let mut bytes = Vec::new();
    if let Ok(parsed) = ClassFile::parse(class) {
        let mut walk = parsed.methods();
        let mut index = 0u16;
        while let Some(method) = walk.next()? {
            let (name, descriptor) = (method.name(&parsed.pool)?, method.descriptor(&parsed.pool)?);
            methods.insert(index, format!("{}{}", mutf8::escape(name), mutf8::escape(descriptor)));
            index += 1;
        }
    }
    if let Ok(parsed) = ClassFile::parse(class) {
        let boundary = Boundary { own: &*known.inputs, filter: &Filter::default() };
        let boundary = transforms.library.then_some(boundary);
        let calls = recorded_callees(&parsed, boundary.as_ref(), transforms.of.waits, |_, _| true)?;
        let calls = calls.iter().map(|callee| {
            let part = mutf8::escape;
            let (class, name, descriptor) = (part(callee.class), part(callee.name), part(callee.descriptor));
            let name = format!("{CALL}{class}.{name}{descriptor}");
            let known = ids.0.iter().position(|known| *known == name);
            let id = known.unwrap_or(ids.0.len());
            if known.is_none() {
                ids.0.push(name);
            }
            (callee.index, id as u32)
        });
        rewriter.record_library_calls(calls);
    }
    let choose = |method: &MethodRef<'_>| {
        let name = methods.get(&method.index).cloned().unwrap_or_default();
        ids.0.push(format!("{class_name}.{name}"));
        Choice::Rewrite((ids.0.len() - 1) as u32)
    };
    let whole = |reason: Reason| vec![Skip { method: None, reason: reason.to_string() }];
    let outcome = rewriter.rewrite(class, choose, &mut bytes);
    let skips = match outcome {
        Err(_) => {
            ids.0.truncate(first);
            whole(Reason::NotAClass)
        }
        Ok(rewrite::Outcome::Skipped(reason)) => {
            ids.0.truncate(first);
            whole(reason)
        }
        Ok(_) => {
            let skipped = rewriter.reports().iter().filter_map(|report| match report.event {
                MethodEvent::Skipped(reason) => {
                    Some(Skip { method: methods.get(&report.index).cloned(), reason: reason.to_string() })
                }
                _ => None,
            });
            skipped.collect()
        }
    };
    if !matches!(outcome, Ok(rewrite::Outcome::Rewritten)) {
        bytes = class.to_vec();
    }
    let wrapped = rewriter.reports().iter().filter_map(|report| match report.event {
        MethodEvent::Rewritten(Note::Wrapped) => Some((methods.get(&report.index)?.clone(), false)),
        MethodEvent::Rewritten(Note::WrappedBare) => Some((methods.get(&report.index)?.clone(), true)),
        _ => None,
    });
    let wrapped = wrapped.collect();
    let reports = rewriter.region_reports().iter();
    let regions = reports.map(|report| {
        (wanted[report.region].name.clone(), report.outcome.as_ref().err().map(ToString::to_string))
    });
    Ok(Outcome { bytes, skips, wrapped, regions: regions.collect() })
}

/// A class as readable, stable text.
///
/// # Errors
/// The class cannot be read.
pub fn dump(class: &[u8]) -> Result<String> {
    let class = ClassFile::parse(class)?;
    Ok(text::print_class(&class, &PrintOptions::canonical()))
}
