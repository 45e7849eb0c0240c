//! `case.toml` and the class files beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use instrument_rewriter::region::Region;

use crate::assembler::assemble;

/// One folder of `golden/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// The folder's name.
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub folder: PathBuf,
    /// What [`Case::class_files`] gives: assembling takes longer than what is done with it, once for each combination of transforms.
    #[serde(skip)]
    class_files: OnceLock<Vec<ClassFile>>,
    /// What is special about the class, in one line.
    pub title: String,
    /// The failure class it stands for, with a known bug of that class where there is one.
    pub stands_for: String,
    /// What made the class files: a compiler with its options, `assembler`, or how the bytes came about.
    pub made_by: String,
    /// The class with `main`, when the case can be run.
    pub main: Option<String>,
    /// The class files are not committed: the assembler writes them when the test runs, and no diff is printed.
    #[serde(default)]
    pub generated: bool,
    /// The oldest JDK that reads these class files.
    #[serde(default)]
    pub jdk: u32,
    /// Classes that the JVM itself rejects: class name or file stem -> simple name of the error.
    #[serde(default)]
    pub rejected: BTreeMap<String, String>,
    /// Ends the JVM, so it gets one of its own.
    #[serde(default)]
    pub own_jvm: bool,
    /// The exit code (1: an exception left `main`).
    #[serde(default)]
    pub exit_code: i32,
    /// What `method-events` must leave alone: `File` or `File.method(descriptor)` -> reason; all else is rewritten.
    /// `no-code` need only be listed where it is the point of the case.
    #[serde(default)]
    pub skips: BTreeMap<String, String>,
    /// The same for the others without `method-events`.
    #[serde(default)]
    pub allocation_skips: BTreeMap<String, String>,
    /// Expected events per method, `Class.name(descriptor)`.
    #[serde(default)]
    pub counts: BTreeMap<String, Counts>,
    /// Methods whose events may be unclosed or unmatched, and whose counts then need not add up to the listed ones: only
    /// after a StackOverflowError in a probe, or a return that throws.
    #[serde(default)]
    pub lossy: Vec<String>,
    /// Expected allocations reported by the rewritten code: class name as `Class.getName` gives it -> number.
    #[serde(default)]
    pub allocations: BTreeMap<String, u64>,
    /// Expected calls of `start()V`: class of the receiver -> number.
    #[serde(default)]
    pub starts: BTreeMap<String, u64>,
    /// Code regions to time: as written for `--region` -> expected passages, or the reason why it is refused.
    #[serde(default)]
    pub regions: BTreeMap<String, Passages>,
    /// Expected tasks handed over: simple name of the functional interface -> number.
    #[serde(default)]
    pub tasks: BTreeMap<String, u64>,
    /// Expected calls by reflection: simple name of the class of what names the target -> number.
    #[serde(default)]
    pub reflected: BTreeMap<String, u64>,
    /// Expected events of remote calls: hook -> number.
    #[serde(default)]
    pub remote: BTreeMap<String, u64>,
    /// The diff of `method-events` and `allocation` together is printed: where the two insert at the same place.
    #[serde(default)]
    pub both: bool,
    /// The diff with `bytecodes` is printed.
    #[serde(default)]
    pub bytecodes: bool,
    /// The diff with calls into libraries is printed.
    #[serde(default)]
    pub library_calls: bool,
    /// With `waits`, the calls that are recorded, and their counts; nothing is said of them if there are none here.
    #[serde(default)]
    pub waits: BTreeMap<String, Counts>,
    /// What `bytecodes` leaves alone on top of the others.
    #[serde(default)]
    pub bytecodes_skips: BTreeMap<String, String>,
    /// What calls into libraries make too large, on top of the others.
    #[serde(default)]
    pub library_skips: BTreeMap<String, String>,
    /// Methods that get a wrapper where that is requested, instead of being left; by `Class.method(descriptor)`.
    #[serde(default)]
    pub wraps: BTreeMap<String, Wrapper>,
    /// What `rmi` must leave alone on top of the others.
    #[serde(default)]
    pub rmi_skips: BTreeMap<String, String>,
}

/// The events of one method, as the reader of the event stream closes its frames.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Counts {
    /// Entries, of constructors too.
    pub entries: u64,
    /// Normal returns.
    pub exits: u64,
    /// Left by an exception, and told so by the method's own handler.
    pub unwinds: u64,
    /// Constructors whose super() or this() threw.
    pub aborted: u64,
    /// Closed because an event of a frame beneath came without theirs.
    pub unclosed: u64,
    /// Still open at the end.
    pub open: u64,
}

/// What is expected of a method that has no room for its probes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    /// Name and descriptor of the method that gets its code.
    pub body: String,
    /// With all transforms, the code has no room for what they insert there.
    #[serde(default)]
    pub bare: bool,
}

/// What is expected of a region.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Passages {
    /// It is timed.
    Timed {
        /// Passages over its end.
        ended: u64,
        /// Left by an exception.
        #[serde(default)]
        left: u64,
        /// Not seen to end: what `this()` or `super()` throws.
        #[serde(default)]
        open: u64,
    },
    /// Part of the reason.
    Refused(String),
}

/// A class file of a case.
#[derive(Clone, Debug)]
pub struct ClassFile {
    /// Path within the folder without `.class`.
    pub stem: String,
    pub bytes: Vec<u8>,
}

/// Every case, by name.
///
/// # Errors
/// A folder without a sound `case.toml`.
pub fn cases() -> Result<Vec<Case>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
    let mut out = Vec::new();
    for entry in fs::read_dir(&root).with_context(|| root.display().to_string())? {
        let folder = entry?.path();
        if folder.is_dir() {
            out.push(Case::load(&folder).with_context(|| folder.display().to_string())?);
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

impl Case {
    fn load(folder: &Path) -> Result<Case> {
        let mut case: Case =
            toml::from_str(&fs::read_to_string(folder.join("case.toml")).context("case.toml")?)?;
        case.name = folder.file_name().context("a folder without a name")?.to_string_lossy().into_owned();
        case.folder = folder.to_owned();
        ensure!(
            !case.title.is_empty() && !case.stands_for.is_empty() && !case.made_by.is_empty(),
            "an empty text"
        );
        ensure!(
            case.main.is_some() || (case.counts.is_empty() && case.allocations.is_empty()),
            "counts without main"
        );
        Ok(case)
    }

    /// The classes that the `.asm` sources of this case stand for, with the file each belongs in.
    ///
    /// # Errors
    /// A source that does not assemble.
    pub fn assembled(&self) -> Result<Vec<ClassFile>> {
        let mut out = Vec::new();
        for source in files(&self.folder, "asm")? {
            let classes =
                assemble(&fs::read_to_string(&source)?).with_context(|| source.display().to_string())?;
            let stem = source.strip_prefix(&self.folder)?.with_extension("");
            // Odd names make no file names: the first class goes by its source's name, so does every other odd one.
            for (at, class) in classes.into_iter().enumerate() {
                let plain =
                    class.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '$' | '_' | '/'));
                let stem = match (plain, at) {
                    (true, _) => class.name,
                    (false, 0) => stem.to_string_lossy().into_owned(),
                    (false, _) => format!("{}-{at}", stem.to_string_lossy()),
                };
                out.push(ClassFile { stem, bytes: class.bytes });
            }
        }
        Ok(out)
    }

    /// The regions, compiled.
    ///
    /// # Errors
    /// A text that names none.
    pub fn regions(&self) -> Result<Vec<Region>> {
        self.regions.keys().map(|text| Region::parse(text).with_context(|| text.clone())).collect()
    }

    /// Every class file of the case: what the assembler writes, and the committed ones beside it.
    ///
    /// # Errors
    /// None there, or unreadable.
    pub fn class_files(&self) -> Result<Vec<ClassFile>> {
        if let Some(known) = self.class_files.get() {
            return Ok(known.clone());
        }
        let mut out = self.assembled()?;
        for path in files(&self.folder, "class")? {
            let stem = path.strip_prefix(&self.folder)?.with_extension("").to_string_lossy().into_owned();
            if out.iter().all(|class| class.stem != stem) {
                out.push(ClassFile { stem, bytes: fs::read(&path)? });
            }
        }
        ensure!(!out.is_empty(), "{}: no class file", self.name);
        Ok(self.class_files.get_or_init(|| out).clone())
    }
}

/// The files below a folder with the given extension, sorted.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let path = entry?.into_path();
        if path.is_file() && path.extension().is_some_and(|found| found == extension) {
            out.push(path);
        }
    }
    Ok(out)
}
