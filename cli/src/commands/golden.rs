//! `instrument golden`: snapshots of bytecode, for those who write compilers, plugins and rewriters.
//!
//! 1. Read the cases ([`case`]): folders with a `case.toml`.
//! 2. For each, in parallel: run its command, print the classes that it made, and compare the texts with the blessed ones, method by method.
//! 3. With `--jvm`, link the classes and run the program ([`jvm`]).
//! 4. Print what is not as blessed, in the order of the cases; `--junit` writes it for a build server.

mod case;
mod jvm;
mod program;

use crate::io::exit::Exit;
use crate::io::output::Outputs;
use crate::io::source;
use crate::io::talk::Talk;
use crate::io::words::number;
use anyhow::{Context, Result, bail, ensure};
use case::{Case, STDOUT, text_of};
use instrument_analysis::junit::{self, Outcome, Suite};
use instrument_names::mutf8;
use instrument_names::printable::{printable, printable_lines};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text;
use jvm::Jvm;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Snapshots of bytecode: cases whose classes must print as they did when they were blessed
///
/// A case is a folder with a `case.toml`. Its command makes class files or archives; its folder `expected` has one text for each class. What
/// does not change the meaning of a class (the order of the constant pool and of attributes) does not change the text.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Compare what the cases make now with what was blessed; exit code 0: the same, 1: not so
    Check {
        #[command(flatten)]
        cases: Cases,
        /// Write the outcome as JUnit XML, for a build server
        #[arg(long, value_name = "FILE")]
        junit: Option<PathBuf>,
        /// Lines of context around a difference
        #[arg(long, short = 'U', value_name = "N", default_value_t = 3)]
        context: usize,
    },
    /// Take what the cases make now as right from now on
    Bless {
        #[command(flatten)]
        cases: Cases,
    },
}

#[derive(Debug, clap::Args)]
struct Cases {
    /// The folder of the cases. Their commands are run: take cases of people whose programs you would run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only this case; repeatable
    #[arg(long = "case", value_name = "NAME")]
    named: Vec<String>,
    /// Link the classes with -Xverify:all on the Java (11 or later) in this directory, and run `main` of the case; repeatable
    #[arg(long = "jvm", value_name = "JAVA_HOME")]
    jvms: Vec<PathBuf>,
}

/// Prints to standard output.
///
/// # Errors
/// Cases or Java installations that are not there or cannot be read.
pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let (cases, blesses, junit, context) = match opts.action {
        Action::Check { cases, junit, context } => (cases, false, junit, context),
        Action::Bless { cases } => (cases, true, None, 3),
    };
    let shown = cases.directory.display().to_string();
    let directory = cases.directory.canonicalize().with_context(|| shown.clone())?;
    let jvms = cases.jvms.iter().map(|home| Jvm::at(home)).collect::<Result<Vec<_>>>()?;
    let cases = Case::all(&directory, &cases.named)?;
    let job = Job { directory: &directory, jvms: &jvms, blesses, context };
    let outcomes: Vec<Examined> = cases.par_iter().map(|case| job.examine(case)).collect();

    let mut out = talk.results();
    for (case, examined) in cases.iter().zip(&outcomes) {
        let name = printable(&case.name);
        match &examined.outcome {
            Outcome::Failed { message, text } => {
                writeln!(out, "FAIL {name}: {}\n{}", printable(message), printable_lines(text).trim_end())?;
            }
            _ if examined.written > 0 => {
                writeln!(out, "blessed {name}: {}", number(examined.written as u64, "file"))?;
            }
            _ => writeln!(out, "ok {name}")?,
        }
        if let Some(note) = &examined.note {
            talk.warn(format_args!("{name}: {note}"));
        }
    }
    let failed =
        outcomes.iter().filter(|examined| matches!(examined.outcome, Outcome::Failed { .. })).count();
    writeln!(
        out,
        "{}: {} as blessed, {failed} not",
        number(cases.len() as u64, "case"),
        cases.len() - failed
    )?;
    out.flush()?;
    if let Some(path) = &junit {
        let named = cases.iter().zip(outcomes).map(|(case, examined)| junit::Case {
            class_name: shown.clone(),
            name: case.name.clone(),
            outcome: examined.outcome,
        });
        let suite = Suite { name: "instrument golden".to_owned(), cases: named.collect() };
        let mut document = Vec::new();
        junit::write(&mut document, &suite)?;
        let mut outputs = Outputs::default();
        outputs.file(path, None, &document)?;
        outputs.commit()?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Negative })
}

/// What is done with each case.
struct Job<'a> {
    directory: &'a Path,
    jvms: &'a [Jvm],
    blesses: bool,
    context: usize,
}

/// What became of a case.
struct Examined {
    outcome: Outcome,
    /// Files that were blessed.
    written: usize,
    /// What should be known although it is no failure.
    note: Option<String>,
}

/// What the command of a case has made.
struct Made {
    /// By the name of the class file.
    texts: BTreeMap<String, String>,
    /// The classes that lie in no archive, as `Class.forName` takes them.
    loadable: Vec<String>,
}

impl Job<'_> {
    fn examine(&self, case: &Case) -> Examined {
        let mut examined = Examined { outcome: Outcome::Passed, written: 0, note: None };
        if let Err(error) = self.try_examine(case, &mut examined) {
            let text = format!("{error:#}");
            let (message, rest) = text.split_once('\n').unwrap_or((&text, ""));
            examined.outcome = Outcome::Failed { message: message.to_owned(), text: rest.to_owned() };
        }
        examined
    }

    fn try_examine(&self, case: &Case, examined: &mut Examined) -> Result<()> {
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
            return Ok(());
        }
        let mut differences = self.differences(case, &made.texts)?;
        if let Some(output) = printed {
            let expected = jvm::expected_output(case).context("no stdout; `golden bless --jvm` writes it")?;
            if expected != output {
                differences.push(format!("the program printed\n{output}instead of\n{expected}"));
            }
        }
        if !differences.is_empty() {
            let message = format!("{} not as blessed", number(differences.len() as u64, "file"));
            examined.outcome = Outcome::Failed { message, text: differences.concat() };
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

    /// What is not as blessed, one text for each class.
    fn differences(&self, case: &Case, texts: &BTreeMap<String, String>) -> Result<Vec<String>> {
        let expected = case.expected()?;
        ensure!(!expected.is_empty(), "nothing is blessed yet; `golden bless` does it");
        let mut differences = Vec::new();
        for (name, text) in texts {
            let Some(before) = expected.get(name) else {
                differences.push(format!("+++ {name}: a class that was not made before\n"));
                continue;
            };
            if before != text {
                let hunks: String = (text::changes(before, text, self.context).into_iter())
                    .map(|change| change.hunks)
                    .collect();
                differences.push(format!("--- {}\n+++ {name}\n{hunks}", text_of(name)));
            }
        }
        for name in expected.keys().filter(|name| !texts.contains_key(*name)) {
            differences.push(format!("--- {}: a class that is not made any more\n", text_of(name)));
        }
        Ok(differences)
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
