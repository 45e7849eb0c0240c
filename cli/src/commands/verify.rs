//! `instrument verify`: the JVM's judgement on classes, without a JVM.

pub(crate) mod class_path;

use crate::io::exit::Exit;
use crate::io::source;
use crate::io::talk::Talk;
use crate::io::words::number;
use anyhow::Result;
use class_path::{Places, jdk_on_path, open_jdk};
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

/// Check classes as the JVM does (-Xverify:all), without a JVM; exit code 0: no fault, 1: a fault
///
/// The format of the class files, their superclasses, and the types in the code of every method. Other classes are found in the inputs,
/// on the class path and in the JDK; of a class that cannot be found the best is assumed, and it is named
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Class files, archives and directories (also `app.jar!lib/x.jar`)
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// Archives and directories with more classes, separated as in a class path
    #[arg(long, value_name = "PATH")]
    class_path: Option<std::ffi::OsString>,
    /// Home directory of the JDK whose judgement is asked for; without it the JDK of the java command on the path
    #[arg(long, value_name = "DIR", env = "JAVA_HOME", hide_env_values = true)]
    java_home: Option<PathBuf>,
    /// Only what this original (archive, directory or class file) does not have is a fault
    #[arg(long, value_name = "ORIGINAL")]
    against: Option<String>,
    /// Allow classes of the JDK's own version that depend on preview features
    #[arg(long)]
    enable_preview: bool,
    /// Exit code 3 if a class was not found that matters, or was not judged
    #[arg(long)]
    strict: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// A class that is judged.
struct Subject {
    address: String,
    bytes: Vec<u8>,
}

/// A verdict and where the class lies.
pub(crate) struct Judged {
    address: String,
    verdict: Verdict,
}

/// A fault, as it is printed.
#[derive(Serialize)]
struct Found<'f> {
    address: &'f str,
    #[serde(flatten)]
    fault: &'f Fault,
}

/// A class that was not found.
#[derive(Serialize)]
struct Assumption<'a> {
    class: &'a str,
    /// Classes whose judgement it matters for.
    classes: usize,
}

#[derive(Serialize)]
struct Document<'d> {
    jdk: Option<String>,
    newest_major: u16,
    classes: usize,
    modules: usize,
    faults: Vec<Found<'d>>,
    assumptions: Vec<Assumption<'d>>,
    /// Faults that the original has as well.
    old_faults: usize,
}

/// Prints to standard output.
///
/// # Errors
/// An input that cannot be read.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let mut judge = Judge::open(opts.java_home.clone(), talk)?;
    judge.jvm.preview = opts.enable_preview;
    let class_path = opts.class_path.iter().flat_map(std::env::split_paths);
    judge.class_path = class_path.map(|path| path.display().to_string()).collect();
    let mut judged = judge.all(&opts.inputs)?;
    let mut old_faults = 0;
    if let Some(original) = &opts.against {
        old_faults = without(&mut judged, &judge.all(std::slice::from_ref(original))?);
    }
    let document = Document {
        jdk: judge.jdk.as_ref().map(|jdk| jdk.home.display().to_string()),
        newest_major: judge.jvm.newest_major,
        classes: judged.len(),
        modules: judged.iter().filter(|judged| judged.verdict.is_module).count(),
        faults: judged.iter().flat_map(faults).collect(),
        assumptions: assumptions(&judged),
        old_faults,
    };
    let mut out = talk.results();
    if opts.json {
        serde_json::to_writer_pretty(&mut out, &document)?;
        writeln!(out)?;
    } else {
        print(&document, &mut out)?;
    }
    out.flush()?;
    Ok(match (document.faults.is_empty(), opts.strict && !document.assumptions.is_empty()) {
        (false, _) => Exit::Negative,
        (true, true) => Exit::Partial,
        (true, false) => Exit::Done,
    })
}

/// A JVM whose judgement is asked for, and where it finds classes.
pub(crate) struct Judge {
    jdk: Option<Arc<Jdk>>,
    jvm: Jvm,
    pub(crate) class_path: Vec<String>,
}

impl Judge {
    /// The JDK in this directory, or else the one of the `java` on the path.
    pub(crate) fn open(home: Option<PathBuf>, talk: &Talk) -> Result<Judge> {
        let jdk = home.or_else(jdk_on_path).map(|home| open_jdk(&home).map(Arc::new)).transpose()?;
        if jdk.is_none() {
            talk.caution(format_args!(
                "no JDK was found: its classes are assumed; name one with --java-home or JAVA_HOME"
            ));
        }
        let mut jvm = Jvm::default();
        jvm.newest_major = jdk.as_ref().map_or(jvm.newest_major, |jdk| jdk.newest_major);
        Ok(Judge { jdk, jvm, class_path: Vec::new() })
    }

    /// Its JDK.
    pub(crate) fn jdk(&self) -> Option<Arc<Jdk>> {
        self.jdk.clone()
    }

    /// Reads and judges all classes of some inputs.
    pub(crate) fn all(&self, inputs: &[String]) -> Result<Vec<Judged>> {
        let mut subjects = Vec::new();
        for input in inputs {
            source::classes_of(input, &|_| true, &mut |class| {
                // The JVM does not look at classes for newer ones.
                if versioned(class.address).is_none_or(|java| java + 44 <= u32::from(self.jvm.newest_major)) {
                    subjects
                        .push(Subject { address: class.address.to_owned(), bytes: class.bytes.to_owned() });
                }
                Ok(())
            })?;
        }
        let mut places = Places::new(self.jdk.clone());
        let summaries: Vec<_> = subjects.par_iter().map(|subject| Summary::parse(&subject.bytes)).collect();
        // Versions of a class for some JVMs do not stand in for the class.
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (subject, summary) in subjects.iter().zip(summaries) {
            if versioned(&subject.address).is_some() { &mut last } else { &mut first }.extend(summary);
        }
        first.into_iter().chain(last).for_each(|class| places.add(Arc::new(class)));
        for address in &self.class_path {
            places.add_all(address)?;
        }
        let judge = |verifier: &mut Verifier<'_>, subject: Subject| Judged {
            verdict: verifier.verify(&subject.bytes),
            address: subject.address,
        };
        Ok(subjects.into_par_iter().map_init(|| Verifier::new(&places, self.jvm), judge).collect())
    }

    /// Prints the faults of outputs that their originals do not have; returns how many there are.
    pub(crate) fn outputs(&self, outputs: &[String], originals: &[Judged], talk: &Talk) -> Result<usize> {
        let mut judged = self.all(outputs)?;
        without(&mut judged, originals);
        let mut count = 0;
        for found in judged.iter().flat_map(faults) {
            count += 1;
            talk.error(format_args!("{}: {}", found.address, found.fault));
        }
        talk.note(format_args!(
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
fn without(judged: &mut [Judged], before: &[Judged]) -> usize {
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

fn print(document: &Document<'_>, out: &mut dyn Write) -> Result<()> {
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
    let (classes, faults) = (document.classes - document.modules, document.faults.len());
    write!(out, "{}, {}", number(classes as u64, "class"), number(faults as u64, "fault"))?;
    if document.old_faults > 0 {
        write!(out, ", and {} that the original has as well", document.old_faults)?;
    }
    Ok(writeln!(out)?)
}
