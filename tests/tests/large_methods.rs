//! Methods at and above 65,535 bytes with their probes: named with their reason without `--large-methods wrap`; with it
//! they are rewritten, verified, behave as before, and every call is counted.
//!
//! The programs are made from the sources in `tests/java/large`: `//@repeat N TEXT` stands for N lines with `$i` counted
//! up, `//@fill` for as much code as brings its method to the limit, `//@calls METHOD ENTRIES [UNWINDS]` says what is to
//! be counted, and `//@release N` for which Java it is compiled (8).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_rewriter::class_file::ClassFile;
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject::{self, call};
use serde_json::Value;

/// The longest code of a method (JVMS 4.7.3).
const LONGEST: usize = 65_535;
/// How far below the longest the methods are: one after the other is a little shorter. With probes none of them fits.
const BELOW: [usize; 4] = [0, 3, 6, 9];
/// `fill++` (iinc).
const FILLING: usize = 3;

/// A source of `tests/java/large`.
struct Program {
    name: String,
    text: String,
    /// Method, entries, and how many of these an exception ended.
    calls: Vec<(String, u64, u64)>,
    release: u32,
}

impl Program {
    fn all() -> Result<Vec<Program>> {
        let mut programs = Vec::new();
        for entry in fs::read_dir(java_source("large"))? {
            let path = entry?.path();
            let name = path.file_stem().context("a file without a name")?.to_string_lossy().into_owned();
            let text = fs::read_to_string(&path)?;
            let (mut calls, mut release) = (Vec::new(), 8);
            for line in text.lines().map(str::trim) {
                if let Some(words) = line.strip_prefix("//@calls ") {
                    let words: Vec<&str> = words.split(' ').collect();
                    let number = |at: usize| words.get(at).map_or(Ok(0), |word| word.parse());
                    calls.push((words[0].to_owned(), number(1)?, number(2)?));
                } else if let Some(version) = line.strip_prefix("//@release ") {
                    release = version.parse()?;
                }
            }
            ensure!(!calls.is_empty(), "{name}: no //@calls");
            programs.push(Program { name, text, calls, release });
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }

    /// The source, with this much filling in its methods, one after the other; what is missing is none.
    fn source(&self, filling: &[usize]) -> Result<String> {
        let mut source = String::new();
        let mut filled = 0;
        for line in self.text.lines() {
            let word = line.trim();
            if word == "//@fill" {
                writeln!(source, "int fill = 0;")?;
                source += &"fill++;\n".repeat(filling.get(filled).copied().unwrap_or_default());
                filled += 1;
            } else if let Some((count, text)) =
                word.strip_prefix("//@repeat ").and_then(|rest| rest.split_once(' '))
            {
                for i in 0..count.parse::<usize>()? {
                    writeln!(source, "{}", text.replace("$i", &i.to_string()))?;
                }
            } else {
                writeln!(source, "{line}")?;
            }
        }
        Ok(source)
    }

    /// Which methods are filled, in the order of the source.
    fn filled(&self) -> Vec<String> {
        let lines: Vec<&str> = self.text.lines().collect();
        let heads = lines.windows(2).filter(|pair| pair[1].trim() == "//@fill").map(|pair| pair[0]);
        let name = |head: &str| {
            let front = head.split('(').next().unwrap_or_default();
            front.rsplit(' ').next().unwrap_or_default().to_owned()
        };
        // A head with an annotated parameter has its first parenthesis behind the name all the same.
        heads.map(name).collect()
    }
}

/// Compiles sources; those of one release together.
fn compile(jdk: &Jdk, programs: &[Program], filling: &[Vec<usize>], work: &Path) -> Result<PathBuf> {
    let classes = work.join("classes");
    fs::create_dir_all(&classes)?;
    for release in [8, 17] {
        let mut javac = jdk.tool("javac");
        javac.args(["-J-Xss64m", "-g", "-nowarn", "-Xlint:-options", "--release", &release.to_string()]);
        javac.args(["-XDstringConcat=inline", "-d"]).arg(&classes);
        for (program, filling) in programs.iter().zip(filling).filter(|(p, _)| p.release == release) {
            let path = work.join(format!("{}.java", program.name));
            fs::write(&path, program.source(filling)?)?;
            javac.arg(path);
        }
        javac.run_quietly()?;
    }
    Ok(classes)
}

/// The length of the code of every method, by class and name; of overloaded ones the longest.
fn code_lengths(classes: &Path) -> Result<BTreeMap<(String, String), usize>> {
    let mut lengths = BTreeMap::new();
    for entry in fs::read_dir(classes)? {
        let path = entry?.path();
        let bytes = fs::read(&path)?;
        let class = ClassFile::parse(&bytes)?;
        let name = String::from_utf8(class.name()?.to_vec())?;
        let mut methods = class.methods();
        while let Some(method) = methods.next()? {
            let length = method.code(&class.pool)?.map_or(0, |code| code.code.len());
            let key = (name.clone(), String::from_utf8(method.name(&class.pool)?.to_vec())?);
            let longest = lengths.entry(key).or_insert(0);
            *longest = length.max(*longest);
        }
    }
    Ok(lengths)
}

/// The programs with all their large methods at the limit, and which those are.
fn programs_at_the_limit(
    jdk: &Jdk,
    programs: &[Program],
    work: &Path,
) -> Result<(PathBuf, Vec<(String, String)>)> {
    let empty: Vec<Vec<usize>> = programs.iter().map(|_| Vec::new()).collect();
    let draft = compile(jdk, programs, &empty, &work.join("draft"))?;
    let lengths = code_lengths(&draft)?;
    let (mut filling, mut large) = (Vec::new(), Vec::new());
    for program in programs {
        let mut of_program = Vec::new();
        for name in program.filled() {
            // The longest one has the name: bridges and overriding methods are short.
            let own = |(key, _): &(&(String, String), &usize)| {
                key.1 == name
                    && (key.0.starts_with(&program.name)
                        || program.text.contains(&format!("class {} ", key.0)))
            };
            let mut candidates: Vec<_> = lengths.iter().filter(own).collect();
            candidates.retain(|(key, _)| !large.contains(*key));
            let (key, length) =
                candidates.into_iter().max_by_key(|(_, length)| **length).context(name.clone())?;
            let goal = LONGEST - BELOW[large.len() % BELOW.len()];
            of_program.push((goal - length) / FILLING);
            large.push(key.clone());
        }
        filling.push(of_program);
    }
    let classes = compile(jdk, programs, &filling, &work.join("filled"))?;
    let lengths = code_lengths(&classes)?;
    for key in &large {
        let length = lengths[key];
        ensure!((LONGEST - 12..=LONGEST).contains(&length), "{key:?} has {length} bytes");
    }
    Ok((classes, large))
}

/// Runs all programs in one JVM.
fn run(jdk: &Jdk, classes: &Path, programs: &[Program], directory: &Path) -> Result<String> {
    fs::create_dir_all(directory)?;
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let runner = jdk.compile(&["RunAll.java"], &[])?;
    let mut java = jdk.brief_java();
    java.current_dir(directory).args(["-Xss16m", "-cp"]);
    java.arg(instrument_tests::machine::join(&[classes, &runner])).arg("RunAll").args(names);
    Ok(String::from_utf8(java.run_quietly()?.stdout)?)
}

fn kit(home: &Path, version: u32) -> Jdk {
    Jdk { home: home.to_owned(), version }
}

#[test]
fn methods_at_the_limit_are_wrapped_verified_and_counted() -> Result<()> {
    let work = tempfile::tempdir()?;
    let kits = Jdk::all()?;
    let kits: Vec<Jdk> =
        kits.iter().filter(|jdk| jdk.version >= 17).map(|jdk| kit(&jdk.home, jdk.version)).collect();
    let kits = if Corpus::full() { &kits[..] } else { &kits[kits.len() - 1..] };
    let programs = Program::all()?;
    assert_eq!(programs.len(), 12);
    let (classes, large) = programs_at_the_limit(&kits[0], &programs, work.path())?;

    let left = subject::rewrite(&classes, &work.path().join("left"), &["--runtime", "embed"])?;
    let name = |entry: &str| entry.trim_end_matches(".class").to_owned();
    let mut too_large: Vec<_> = left
        .iter()
        .filter(|line| line.reason == "method-too-large")
        .map(|line| (name(&line.entry), line.method.clone()))
        .collect();
    let mut expected = large.clone();
    too_large.sort();
    expected.sort();
    assert_eq!(too_large, expected, "left as they are, each with its reason");

    let output = work.path().join("wrapped");
    let account = work.path().join("wrapped.report");
    let said = call()?
        .env("JAVA_HOME", &kits[0].home)
        .arg(&classes)
        .args(["--large-methods", "wrap", "--transform", "method-events,allocation", "--verify", "--strict"])
        .arg("--account")
        .arg(&account)
        .arg("-o")
        .arg(&output)
        .run_quietly()?;
    let said = String::from_utf8(said.stderr)?;
    assert!(said.contains(&format!("{} methods too large", large.len())), "{said}");
    let mut wrapped = Vec::new();
    for line in fs::read_to_string(&account)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        if line["detail"].as_str().is_some_and(|detail| detail.contains("it is a wrapper")) {
            assert_eq!(line["outcome"], "rewritten");
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            wrapped.push((text("class"), text("method")));
        }
    }
    wrapped.sort();
    assert_eq!(wrapped, expected);

    for jdk in kits {
        let before = run(jdk, &classes, &programs, &work.path().join(format!("before-{}", jdk.version)))?;
        assert!(before.lines().count() >= programs.len(), "{before}");
        let directory = work.path().join(format!("after-{}", jdk.version));
        let after = run(jdk, &output, &programs, &directory)?;
        assert_eq!(before, after, "JDK {}", jdk.version);
        let counted = subject::profile(&directory)?;
        for program in &programs {
            for (method, entries, unwinds) in &program.calls {
                let is_it = |name: &str| {
                    let (class, own) = name.rsplit_once('.').unwrap_or_default();
                    let outer = class.split('$').next().unwrap_or_default();
                    own == method
                        && (outer == program.name || program.text.contains(&format!("class {outer} ")))
                };
                let of_large = |name: &str| {
                    let key = name.rsplit_once('.').map(|(class, own)| (class.to_owned(), own.to_owned()));
                    key.is_some_and(|key| large.contains(&key)) || method == "part"
                };
                let rows = counted.iter().filter(|row| is_it(&row.name) && of_large(&row.name));
                let found = rows.fold((0, 0), |sum, row| (sum.0 + row.entries, sum.1 + row.unwinds));
                assert_eq!(found, (*entries, *unwinds), "{}.{method} on JDK {}", program.name, jdk.version);
            }
        }
        let bodies = counted.iter().filter(|row| row.name.contains("$instrument$body")).count();
        assert_eq!(bodies, 0, "methods with the code are no methods of the program");
    }
    Ok(())
}

#[test]
fn what_is_loaded_cannot_be_wrapped() -> Result<()> {
    let said = call()?.args(["run", "--large-methods", "wrap", "--", "java", "-version"]).capture()?;
    assert_eq!(said.status.code(), Some(2));
    let said = String::from_utf8(said.stderr)?;
    assert!(said.contains("--large-methods wrap adds methods to classes"), "{said}");
    assert!(said.contains("instrument the archive with it, then start the result with java"), "{said}");
    Ok(())
}
