//! Which inputs go where: what kind each is, the name of its output, and the requests that are refused before anything
//! is read.

use crate::unit::UnitKind;
use anyhow::{Context, Result, anyhow};
use instrument_messages::usage;
use instrument_names::id_map::ENTRY_NAME;
use instrument_rewriter::archive;
use instrument_rewriter::class_file::ClassFile;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// One input and its output, both as the user would name them and resolved.
#[derive(Debug)]
pub struct Job {
    /// As given.
    pub input: PathBuf,
    /// Absolute, links resolved.
    pub source: PathBuf,
    /// What the input is.
    pub kind: UnitKind,
    /// As it is named in messages.
    pub output: PathBuf,
    /// Absolute, links of its parent (and of a file that it replaces) resolved. The same as `source` when it is
    /// rewritten in place.
    pub target: PathBuf,
    /// It was instrumented before, and is to be left as it is: copied, if its output is another file.
    pub left: bool,
}

impl Job {
    /// Whether the output replaces the input.
    pub fn in_place(&self) -> bool {
        self.source == self.target
    }
}

/// Decides on all outputs.
///
/// # Errors
/// Inputs that do not exist or are neither class, archive nor directory; outputs that would overwrite an input, each
/// other, or something that is no output of ours; unless `if_needed`, directories that were instrumented before (of the
/// others the engine says it). `meant_as`: the command that a name is most like which is no file.
pub fn plan(
    inputs: &[PathBuf],
    output: Option<&Path>,
    in_place: bool,
    if_needed: bool,
    meant_as: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Job>> {
    if let Some(output) = output
        && output.as_os_str() == "-"
    {
        return Err(usage("`-o -`: writing to standard output is not supported; name a file"));
    }
    // The directory that -o names, if the outputs go into one.
    let several = inputs.len() > 1;
    let into =
        output.filter(|output| several || !inputs[0].is_dir() && (output.is_dir() || ends_in_slash(output)));
    if let Some(directory) = into
        && directory.exists()
        && !directory.is_dir()
    {
        return Err(usage(format!("{}: not a directory, which several inputs need", directory.display())));
    }
    let mut jobs = Vec::with_capacity(inputs.len());
    for input in inputs {
        let (source, kind) = inspect(input, meant_as)?;
        let left = match (if_needed, kind) {
            (true, _) => is_instrumented(&source, kind).with_context(|| input.display().to_string())?,
            (false, UnitKind::Directory) if is_instrumented(&source, kind)? => {
                let name = input.display();
                return Err(anyhow!("{name}: already instrumented: it holds {ENTRY_NAME}"));
            }
            (false, _) => false,
        };
        let in_place = in_place || left && output.is_none();
        let output = match (in_place, output, into) {
            (true, ..) => input.clone(),
            (_, _, Some(directory)) => directory.join(name_of(input, &source)?),
            (_, Some(output), _) => output.to_owned(),
            (_, None, _) => default_output(input, &source, kind)?,
        };
        let target = if in_place { source.clone() } else { resolve_target(&output, into)? };
        let job = Job { input: input.clone(), source, kind, output, target, left };
        if !in_place {
            check_target(&job)?;
        }
        jobs.push(job);
    }
    check_pairs(&jobs)?;
    Ok(jobs)
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Finds out what an input is.
fn inspect(input: &Path, meant_as: &dyn Fn(&str) -> Option<String>) -> Result<(PathBuf, UnitKind)> {
    let name = input.display();
    if input.as_os_str() == "-" {
        return Err(usage(
            "`-`: reading from standard input is not supported; name a file (or ./- for a file of this name)",
        ));
    }
    let source = match input.canonicalize() {
        Ok(source) => source,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(match input.to_str().and_then(meant_as) {
                Some(command) => {
                    usage(format!("`{name}` is neither a file nor a command; did you mean `{command}`?"))
                }
                None => anyhow!("{name}: no such file or directory"),
            });
        }
        Err(error) => return Err(error).with_context(|| name.to_string()),
    };
    let metadata = source.metadata().with_context(|| name.to_string())?;
    let kind = if metadata.is_dir() {
        UnitKind::Directory
    } else if metadata.is_file() {
        match file_kind(&source).with_context(|| name.to_string())? {
            Some(kind) => kind,
            None => return Err(anyhow!("{name}: neither a class file nor an archive (jar, war, ear, zip)")),
        }
    } else {
        return Err(anyhow!("{name}: neither a regular file nor a directory"));
    };
    Ok((source, kind))
}

/// Whether an input was instrumented before.
fn is_instrumented(source: &Path, kind: UnitKind) -> Result<bool> {
    Ok(match kind {
        UnitKind::Directory => source.join(ENTRY_NAME).is_file(),
        UnitKind::Archive => {
            let name = source.display().to_string();
            archive::is_instrumented(&name, &fs::read(source)?, &archive::Limits::default())?
        }
        // One that cannot be read is the engine's to account for.
        UnitKind::ClassFile => {
            ClassFile::parse(&fs::read(source)?).is_ok_and(|class| class.pool.names_the_runtime())
        }
    })
}

/// A class file by its magic (JVMS 4.1); an archive by its first signature, its name, or, behind a start script, its
/// last (APPNOTE 4.3.16).
fn file_kind(path: &Path) -> std::io::Result<Option<UnitKind>> {
    let mut file = File::open(path)?;
    let mut magic = [0; 4];
    let mut length = 0;
    while length < magic.len() {
        match file.read(&mut magic[length..])? {
            0 => break,
            n => length += n,
        }
    }
    match &magic[..length] {
        [0xca, 0xfe, 0xba, 0xbe] => return Ok(Some(UnitKind::ClassFile)),
        b"PK\x03\x04" | b"PK\x05\x06" => return Ok(Some(UnitKind::Archive)),
        _ => {}
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if ["jar", "war", "ear", "jmod", "zip"].contains(&&*extension) {
        return Ok(Some(UnitKind::Archive));
    }
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(end.saturating_sub(22 + 65_535)))?;
    let mut tail = Vec::new();
    file.take(22 + 65_535).read_to_end(&mut tail)?;
    Ok(tail.windows(4).any(|window| window == b"PK\x05\x06").then_some(UnitKind::Archive))
}

/// The last part of an input's path; of its real path for `.` and `..`.
fn name_of(input: &Path, source: &Path) -> Result<OsString> {
    let name = input.file_name().or_else(|| source.file_name());
    name.map(ToOwned::to_owned)
        .ok_or_else(|| usage(format!("{}: has no name to derive an output from; give -o", input.display())))
}

/// `X-instrumented.jar` for `X.jar`, beside it.
fn default_output(input: &Path, source: &Path, kind: UnitKind) -> Result<PathBuf> {
    let name = name_of(input, source)?;
    let beside = if input.file_name().is_some() { input } else { source };
    let path = Path::new(&name);
    let (stem, extension) = match (path.file_stem(), path.extension()) {
        (Some(stem), Some(extension)) if kind != UnitKind::Directory => (stem, Some(extension)),
        _ => (path.as_os_str(), None),
    };
    let mut new = stem.to_owned();
    new.push("-instrumented");
    if let Some(extension) = extension {
        new.push(".");
        new.push(extension);
    }
    Ok(beside.with_file_name(new))
}

/// The absolute path of an output. Its directory must exist, but for the one that `-o` names for several inputs.
fn resolve_target(output: &Path, into: Option<&Path>) -> Result<PathBuf> {
    if output.is_file() {
        return output.canonicalize().with_context(|| output.display().to_string());
    }
    let name =
        output.file_name().ok_or_else(|| usage(format!("{}: not a name for an output", output.display())))?;
    let parent = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let directory = parent(output);
    let resolved = match directory.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == ErrorKind::NotFound && into.is_some() => {
            let above = parent(&directory).canonicalize();
            let name = directory
                .file_name()
                .ok_or_else(|| usage(format!("{}: not a directory", directory.display())))?;
            above.with_context(|| format!("{}: its directory", directory.display()))?.join(name)
        }
        Err(error) => {
            return Err(error).with_context(|| format!("the output's directory {}", directory.display()));
        }
    };
    Ok(resolved.join(name))
}

/// Refuses an output that would overwrite something else than an earlier output.
fn check_target(job: &Job) -> Result<()> {
    let (input, output) = (job.input.display(), job.output.display());
    if same_file(&job.source, &job.target) {
        return Err(usage(format!(
            "{output}: input and output are the same; use --in-place to replace the input"
        )));
    }
    if job.kind == UnitKind::Directory && job.target.starts_with(&job.source) {
        return Err(usage(format!("{output}: the output lies inside the input directory {input}")));
    }
    if job.source.starts_with(&job.target) {
        return Err(usage(format!("{output}: the output is a directory that holds the input {input}")));
    }
    let Ok(there) = job.target.metadata() else { return Ok(()) };
    if job.kind != UnitKind::Directory {
        if !there.is_file() {
            return Err(usage(format!("{output}: exists and is not a regular file")));
        }
        return Ok(());
    }
    if !there.is_dir() {
        return Err(usage(format!("{output}: exists and is not a directory, but the input {input} is one")));
    }
    let is_empty = job.target.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty && !job.target.join(ENTRY_NAME).is_file() {
        return Err(usage(format!(
            "{output}: exists, is not empty, and is no earlier output; remove it or name another"
        )));
    }
    Ok(())
}

/// Refuses jobs that get in each other's way.
fn check_pairs(jobs: &[Job]) -> Result<()> {
    let mut sources = HashMap::new();
    let mut targets = HashMap::new();
    for job in jobs {
        if sources.insert(&job.source, job).is_some() {
            return Err(usage(format!("{}: given twice", job.input.display())));
        }
        if let Some(other) = targets.insert(&job.target, job) {
            return Err(usage(format!(
                "{} and {} would both be written to {}",
                other.input.display(),
                job.input.display(),
                job.output.display()
            )));
        }
    }
    for job in jobs {
        for above in job.source.ancestors().skip(1) {
            if let Some(other) = sources.get(&above.to_owned()) {
                return Err(usage(format!(
                    "{} lies inside {}, which is given too",
                    job.input.display(),
                    other.input.display()
                )));
            }
        }
        for above in job.target.ancestors() {
            let other = sources.get(&above.to_owned()).filter(|_| !job.in_place());
            if let Some(other) = other {
                return Err(usage(format!(
                    "the output {} would overwrite or lie in the input {}",
                    job.output.display(),
                    other.input.display()
                )));
            }
            if let Some(other) = targets.get(&above.to_owned()).filter(|other| other.target != job.target) {
                return Err(usage(format!(
                    "the output {} lies inside the output {}",
                    job.output.display(),
                    other.output.display()
                )));
            }
        }
    }
    Ok(())
}

/// Whether two paths lead to one file, be it by a hard link.
#[cfg(unix)]
pub fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
pub fn same_file(a: &Path, b: &Path) -> bool {
    a == b
}
