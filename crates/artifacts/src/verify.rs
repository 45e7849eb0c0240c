//! The JVM's judgement on classes on disk, without a JVM.

use crate::class_path::{Places, Shared, View, jdk_on_path, open_jdk};
use crate::source;
use anyhow::Result;
use instrument_messages::{Listener, number};
use instrument_names::mutf8;
use instrument_verifier::fault::Fault;
use instrument_verifier::format::Jvm;
use instrument_verifier::hierarchy::Summary;
use instrument_verifier::jdk::Jdk;
use instrument_verifier::{Verdict, Verifier};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// How many classes that were not found are named in text.
const NAMED: usize = 10;

/// Bytes of classes that are kept at a time.
const BATCH: usize = 32 << 20;

/// A class that is judged.
struct Subject {
    /// Position of the input that it is from.
    input: usize,
    address: String,
    bytes: Vec<u8>,
}

/// A verdict and where the class lies.
pub struct Judged {
    address: String,
    verdict: Verdict,
}

pub struct Judgement {
    /// In the order of the classes.
    pub judged: Vec<Judged>,
    /// The classes that more than one input has.
    pub shared: Vec<Shared>,
}

/// A class that more than one input has, as it is printed.
#[derive(Serialize)]
pub struct InSeveral<'d> {
    class: String,
    inputs: Vec<&'d str>,
}

/// A fault, as it is printed.
#[derive(Serialize)]
pub struct Found<'f> {
    address: &'f str,
    #[serde(flatten)]
    fault: &'f Fault,
}

/// A class that was not found.
#[derive(Serialize)]
pub struct Assumption<'a> {
    class: &'a str,
    /// Classes whose judgement it matters for.
    classes: usize,
}

/// The outcome, as `--json` prints it.
#[derive(Serialize)]
pub struct Document<'d> {
    jdk: Option<String>,
    newest_major: u16,
    classes: usize,
    modules: usize,
    /// In the order of the classes.
    pub faults: Vec<Found<'d>>,
    /// Classes that were not found.
    pub assumptions: Vec<Assumption<'d>>,
    /// Classes that more than one input has: each input is judged with its own.
    shared: Vec<InSeveral<'d>>,
    /// Faults that the original has as well.
    old_faults: usize,
}

/// A JVM whose judgement is requested, and where it finds classes.
pub struct Judge {
    jdk: Option<Arc<Jdk>>,
    /// Its version, and what it allows.
    pub jvm: Jvm,
    /// Archives and directories with more classes.
    pub class_path: Vec<String>,
}

impl Judge {
    /// The JDK in this directory, or else the one of the `java` on the path.
    pub fn open(home: Option<PathBuf>, listener: &dyn Listener) -> Result<Judge> {
        let jdk = home.or_else(jdk_on_path).map(|home| open_jdk(&home).map(Arc::new)).transpose()?;
        if jdk.is_none() {
            listener.caution(format_args!(
                "no JDK was found: its classes are assumed; name one with --java-home or JAVA_HOME"
            ));
        }
        let mut jvm = Jvm::default();
        jvm.newest_major = jdk.as_ref().map_or(jvm.newest_major, |jdk| jdk.newest_major);
        Ok(Judge { jdk, jvm, class_path: Vec::new() })
    }

    pub fn jdk(&self) -> Option<Arc<Jdk>> {
        self.jdk.clone()
    }

    /// Reads and judges all classes of some inputs, each with its own classes before those of the others. They are read
    /// twice, first for what other classes have to know of them: no more than [`BATCH`] bytes of them are kept at a
    /// time.
    pub fn all(&self, inputs: &[String]) -> Result<Judgement> {
        let mut places = Places::new(self.jdk.clone());
        // Versions of a class for some JVMs do not stand in for the class.
        let (mut first, mut last) = (Vec::new(), Vec::new());
        self.in_batches(inputs, &mut |subjects| {
            let summaries: Vec<_> =
                subjects.par_iter().map(|subject| Summary::parse(&subject.bytes)).collect();
            for (subject, summary) in subjects.iter().zip(summaries) {
                let list = if versioned(&subject.address).is_some() { &mut last } else { &mut first };
                list.extend(summary.map(|summary| (subject.input, summary)));
            }
        })?;
        for (input, class) in first.into_iter().chain(last) {
            places.add_of(input, Arc::new(class));
        }
        for address in &self.class_path {
            places.add_all(address)?;
        }
        let views: Vec<View<'_>> = (0..inputs.len()).map(|input| places.of(input)).collect();
        let mut judged = Vec::new();
        self.in_batches(inputs, &mut |subjects| {
            let judge = |verifier: &mut _, subject| self.one(&views, verifier, subject);
            judged.par_extend(subjects.into_par_iter().map_init(|| None, judge));
        })?;
        Ok(Judgement { judged, shared: places.shared() })
    }

    /// Judges a class by the view of its input, whose `verifier` is kept: classes come by input.
    fn one<'p>(
        &self,
        views: &'p [View<'p>],
        verifier: &mut Option<(usize, Verifier<'p>)>,
        subject: Subject,
    ) -> Judged {
        let Subject { input, address, bytes } = subject;
        if verifier.as_ref().is_none_or(|(of, _)| *of != input) {
            *verifier = None;
        }
        let (_, verifier) = verifier.get_or_insert_with(|| (input, Verifier::new(&views[input], self.jvm)));
        Judged { address, verdict: verifier.verify(&bytes) }
    }

    /// Reads all classes of some inputs that this JVM looks at, and takes some at a time.
    fn in_batches(&self, inputs: &[String], take: &mut dyn FnMut(Vec<Subject>)) -> Result<()> {
        let (mut subjects, mut size) = (Vec::new(), 0);
        for (position, input) in inputs.iter().enumerate() {
            source::classes_of(input, &|_| true, &mut |class| {
                // The JVM does not look at classes for newer ones.
                if versioned(class.address).is_none_or(|java| java + 44 <= u32::from(self.jvm.newest_major)) {
                    let (address, bytes) = (class.address.to_owned(), class.bytes.to_owned());
                    subjects.push(Subject { input: position, address, bytes });
                    size += class.bytes.len();
                }
                if size >= BATCH {
                    take(std::mem::take(&mut subjects));
                    size = 0;
                }
                Ok(())
            })?;
        }
        take(subjects);
        Ok(())
    }

    /// What is to be said of the classes of `inputs` that were judged.
    pub fn document<'d>(
        &self,
        inputs: &'d [String],
        judgement: &'d Judgement,
        old_faults: usize,
    ) -> Document<'d> {
        let Judgement { judged, shared } = judgement;
        let shared = shared.iter().map(|shared| InSeveral {
            class: mutf8::escape(&shared.name).replace('/', "."),
            inputs: shared.inputs.iter().map(|input| &*inputs[*input]).collect(),
        });
        Document {
            jdk: self.jdk.as_ref().map(|jdk| jdk.home.display().to_string()),
            newest_major: self.jvm.newest_major,
            classes: judged.len(),
            modules: judged.iter().filter(|judged| judged.verdict.is_module).count(),
            faults: judged.iter().flat_map(faults).collect(),
            assumptions: assumptions(judged),
            shared: shared.collect(),
            old_faults,
        }
    }

    /// Says the faults of outputs that their originals do not have; returns how many there are.
    pub fn outputs(
        &self,
        outputs: &[String],
        originals: &[Judged],
        listener: &dyn Listener,
    ) -> Result<usize> {
        let mut judged = self.all(outputs)?.judged;
        without(&mut judged, originals);
        let mut count = 0;
        for found in judged.iter().flat_map(faults) {
            count += 1;
            listener.error(format_args!("{}: {}", found.address, found.fault));
        }
        listener.note(format_args!(
            "verified: {}, {}",
            number(judged.len() as u64, "class"),
            number(count as u64, "new fault")
        ));
        Ok(count)
    }
}

/// The Java version that an entry of a multi-release archive is for.
fn versioned(address: &str) -> Option<u32> {
    let (_, version) = address.rsplit_once("META-INF/versions/")?;
    version.split('/').next()?.parse().ok()
}

fn faults(judged: &Judged) -> impl Iterator<Item = Found<'_>> {
    judged.verdict.faults.iter().map(|fault| Found { address: &judged.address, fault })
}

/// Takes away the faults that the original has as well; returns how many.
pub fn without(judged: &mut [Judged], before: &[Judged]) -> usize {
    let mut known: HashMap<&str, Vec<&Fault>> = HashMap::new();
    for fault in before.iter().flat_map(|judged| &judged.verdict.faults) {
        known.entry(&fault.class).or_default().push(fault);
    }
    let mut old = 0;
    for faults in judged.iter_mut().map(|judged| &mut judged.verdict.faults) {
        let all = faults.len();
        faults.retain(|fault| {
            !known.get(&*fault.class).is_some_and(|known| known.iter().any(|known| fault.is_same(known)))
        });
        old += all - faults.len();
    }
    old
}

fn assumptions(judged: &[Judged]) -> Vec<Assumption<'_>> {
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for class in judged.iter().flat_map(|judged| &judged.verdict.assumptions) {
        *classes.entry(class).or_default() += 1;
    }
    classes.into_iter().map(|(class, classes)| Assumption { class, classes }).collect()
}

/// Prints the outcome as text.
///
/// # Errors
/// The output cannot be written.
pub fn print(document: &Document<'_>, out: &mut dyn Write) -> Result<()> {
    for found in &document.faults {
        writeln!(out, "{}\n  {}", found.address, found.fault.to_string().replace('\n', "\n  "))?;
    }
    let assumed = &document.assumptions;
    if !assumed.is_empty() {
        writeln!(out, "not found, so that the best was assumed: {}", number(assumed.len() as u64, "class"))?;
        for assumption in assumed.iter().take(NAMED) {
            writeln!(
                out,
                "  {} (matters for {})",
                assumption.class,
                number(assumption.classes as u64, "class")
            )?;
        }
        if assumed.len() > NAMED {
            writeln!(out, "  and {} more; --json names all", assumed.len() - NAMED)?;
        }
    }
    let shared = &document.shared;
    if !shared.is_empty() {
        let count = number(shared.len() as u64, "class");
        writeln!(out, "in more than one input, each of which is judged with its own: {count}")?;
        for shared in shared.iter().take(NAMED) {
            writeln!(out, "  {} ({})", shared.class, shared.inputs.join(", "))?;
        }
        if shared.len() > NAMED {
            writeln!(out, "  and {} more; --json names all", shared.len() - NAMED)?;
        }
    }
    let (classes, faults) = (document.classes - document.modules, document.faults.len());
    write!(out, "{}, {}", number(classes as u64, "class"), number(faults as u64, "fault"))?;
    if document.old_faults > 0 {
        write!(out, ", and {} that the original has as well", document.old_faults)?;
    }
    Ok(writeln!(out)?)
}
