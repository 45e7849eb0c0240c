//! `instrument verify`: the JVM's judgement on classes, without a JVM.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::Result;
use instrument_artifacts::verify::{Judge, print, without};
use std::io::Write;
use std::path::PathBuf;

/// Check classes as the JVM does (-Xverify:all), without a JVM; exit code 0: no fault, 1: a fault
///
/// The format of the class files, their superclasses, and the types in the code of every method. Other classes are found in the input
/// itself, in the other inputs, on the class path and in the JDK; of a class that cannot be found the best is assumed, and it is named
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

/// Prints to standard output.
///
/// # Errors
/// An input that cannot be read.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let mut judge = Judge::open(opts.java_home.clone(), talk)?;
    judge.jvm.preview = opts.enable_preview;
    let class_path = opts.class_path.iter().flat_map(std::env::split_paths);
    judge.class_path = class_path.map(|path| path.display().to_string()).collect();
    let mut judgement = judge.all(&opts.inputs)?;
    let mut old_faults = 0;
    if let Some(original) = &opts.against {
        old_faults = without(&mut judgement.judged, &judge.all(std::slice::from_ref(original))?.judged);
    }
    let document = judge.document(&opts.inputs, &judgement, old_faults);
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
