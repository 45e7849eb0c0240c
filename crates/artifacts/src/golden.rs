//! Snapshots of bytecode: cases whose classes must print as they did when they were blessed.
//!
//! 1. Read the cases ([`case`]): folders with a `case.toml`.
//! 2. For each: run its command, print the classes that it made, and compare the texts with the blessed ones, method by
//!    method.
//! 3. Link the classes on virtual machines and run the program ([`jvm`]), where that is requested.

pub mod case;
pub mod jvm;
pub mod pending;
mod program;

use crate::source;
use anyhow::{Context, Result, bail, ensure};
use case::{Case, STDOUT};
use instrument_analysis::junit::Outcome;
use instrument_messages::number;
use instrument_names::mutf8;
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text;
use jvm::Jvm;
use pending::Change;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};
use std::process::Command;

/// What is done with each case.
pub struct Job<'a> {
    /// The folder of the cases.
    pub directory: &'a Path,
    /// Where classes are linked and programs run.
    pub jvms: &'a [Jvm],
    /// Whether what is made now is right from now on.
    pub blesses: bool,
    /// Whether what is not as blessed is kept, to be judged later ([`pending`]).
    pub keeps: bool,
    /// Lines of context around a difference.
    pub context: usize,
}

/// Outcome of a case.
pub struct Examined {
    /// Whether all is as blessed.
    pub outcome: Outcome,
    /// Files that were blessed.
    pub written: usize,
    /// What should be known although it is no failure.
    pub note: Option<String>,
}

/// What the command of a case has made.
struct Made {
    /// By the name of the class file.
    texts: BTreeMap<String, String>,
    /// The classes that lie in no archive, as `Class.forName` takes them.
    loadable: Vec<String>,
}

impl Job<'_> {
    /// Compares or blesses a case.
    pub fn examine(&self, case: &Case) -> Examined {
        let mut examined = Examined { outcome: Outcome::Passed, written: 0, note: None };
        if let Err(error) = self.try_examine(case, &mut examined) {
            let text = format!("{error:#}");
            let (message, rest) = text.split_once('\n').unwrap_or((&text, ""));
            examined.outcome = Outcome::Failed { message: message.to_owned(), text: rest.to_owned() };
        }
        examined
    }

    fn try_examine(&self, case: &Case, examined: &mut Examined) -> Result<()> {
        // What an earlier check has kept may be of other sources.
        if self.keeps {
            case.keep(&[])?;
        }
        let out = tempfile::tempdir()?;
        let classes = match &case.file.command[..] {
            [] => case.folder.as_path(),
            command => {
                self.make(case, command, out.path())?;
                out.path()
            }
        };
        let made = print(case, classes)?;
        let mut printed = None;
        let able: Vec<&Jvm> = self.jvms.iter().filter(|jvm| jvm.version >= case.file.jdk).collect();
        if able.is_empty() && !self.jvms.is_empty() {
            examined.note = Some(format!("not linked and not run: it takes Java {} or later", case.file.jdk));
        }
        for jvm in able {
            let output = jvm.judge(case, classes, &made.loadable)?;
            if printed.is_some() && printed != output {
                bail!("the program prints something else on Java {} than on the others", jvm.version);
            }
            printed = output;
        }
        if self.blesses {
            examined.written = case.bless(&made.texts)?;
            if let Some(output) = printed.filter(|output| jvm::expected_output(case).as_ref() != Some(output))
            {
                let path = case.folder.join(STDOUT);
                fs::write(&path, output).with_context(|| path.display().to_string())?;
                examined.written += 1;
            }
            return case.keep(&[]);
        }
        let expected = case.expected()?;
        let output = printed.map(|output| (jvm::expected_output(case), output));
        let lacks_output = output.as_ref().is_some_and(|(before, _)| before.is_none());
        let changes = Change::all(&expected, &made.texts, output);
        if self.keeps
            && let Err(error) = case.keep(&changes)
        {
            examined.note = Some(format!("what differs cannot be kept for `golden review`: {error:#}"));
        }
        ensure!(!expected.is_empty(), "no snapshot yet; create it with `golden bless`");
        ensure!(!lacks_output, "no stdout; `golden bless --jvm` writes it");
        if !changes.is_empty() {
            let message = format!("{} not as blessed", number(changes.len() as u64, "file"));
            let text = changes.iter().map(|change| change.text(self.context)).collect();
            examined.outcome = Outcome::Failed { message, text };
        }
        Ok(())
    }

    /// Runs the command of a case, in its folder.
    fn make(&self, case: &Case, command: &[String], out: &Path) -> Result<()> {
        let path = |path: &Path| path.to_str().map(str::to_owned).context("a path that is not UTF-8");
        let places =
            [("{out}", path(out)?), ("{case}", path(&case.folder)?), ("{cases}", path(self.directory)?)];
        let filled =
            |word: &String| places.iter().fold(word.clone(), |word, (place, path)| word.replace(place, path));
        let words: Vec<String> = command.iter().map(filled).collect();
        let mut command = Command::new(&words[0]);
        let ended = program::run(command.args(&words[1..]).current_dir(&case.folder), case.limit())?;
        ensure!(ended.status.success(), "{}: {}\n{}", words[0], ended.status, ended.last_words());
        Ok(())
    }
}

/// Prints all classes in a directory, also those in its archives.
fn print(case: &Case, directory: &Path) -> Result<Made> {
    let root = directory.to_str().context("a path that is not UTF-8")?;
    let options = case.print_options();
    let mut made = Made { texts: BTreeMap::new(), loadable: Vec::new() };
    source::classes_of(root, &|_| true, &mut |class| {
        let name = class.address.strip_prefix(root).unwrap_or(class.address).trim_start_matches('/');
        let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        ensure!(Path::new(name).components().all(is_inside), "{name}: a name that leads elsewhere");
        let file = ClassFile::parse(class.bytes).with_context(|| name.to_owned())?;
        let text = text::print_class(&file, &options);
        ensure!(!text.trim_end().ends_with(text::CUT), "{name}: its text is too long");
        if !name.contains('!') {
            made.loadable.push(mutf8::escape(file.name()?).replace('/', "."));
        }
        let twice = made.texts.insert(name.to_owned(), text).is_some();
        ensure!(!twice, "{name}: two classes of this name in one archive");
        Ok(())
    })?;
    ensure!(!made.texts.is_empty(), "no class was made");
    Ok(made)
}
