//! HotSpot compiles rewritten methods as it compiles the original ones: what `-XX:+PrintCompilation` prints of five small programs and of javac,
//! bare and rewritten, with each of the two compilers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, Run, java_source, root};
use instrument_tests::subject;
use tempfile::TempDir;

/// C1 compiles what is called, even from where -Xcomp sees no call: what the scaling adds. With C2 it takes too long.
const COMPILERS: [(&str, &[&str]); 2] = [
    ("C1", &["-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=0.0005"]),
    ("C2", &["-XX:-TieredCompilation"]),
];

/// A program in two folders, bare and rewritten.
struct Program {
    folder: TempDir,
    /// Its classes, as a prefix with `.`.
    package: &'static str,
    arguments: Vec<String>,
    /// Methods that the account of the rewriting calls too long for HotSpot, as `Class::method`.
    too_long: BTreeSet<String>,
}

/// What HotSpot did with the methods of a program, by `Class::method`: the log has no descriptors.
#[derive(Default)]
struct Compilations {
    compiled: BTreeSet<String>,
    /// And why.
    refused: BTreeMap<String, String>,
}

impl Program {
    fn new(inputs: &[(PathBuf, &str)], package: &'static str, arguments: &[&str]) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let ids = folder.path().join("shared.ids");
        let mut too_long = BTreeSet::new();
        for (input, name) in inputs {
            let bare = folder.path().join("bare");
            fs::create_dir_all(&bare)?;
            std::os::unix::fs::symlink(input, bare.join(name))?;
            let output = folder.path().join("rewritten").join(name);
            fs::create_dir_all(output.parent().context("a path without a folder")?)?;
            subject::rewrite(input, &output, &["--ids".as_ref(), ids.as_os_str()])?;
            too_long.extend(noted_as_too_long(&output.with_extension("report"))?);
        }
        let arguments = arguments.iter().map(|argument| argument.to_string()).collect();
        Ok(Program { folder, package, arguments, too_long })
    }

    fn run(&self, side: &str, compiler: &[&str]) -> Result<Compilations> {
        // Every method is compiled when it is first called, and none becomes a part of its caller: two runs compile the same.
        let mut java = Jdk::default_kit()?.java();
        java.args(["-Xcomp", "-XX:-Inline", "-XX:+PrintCompilation", "-Xss4m"]).args(compiler);
        for package in [self.package, "instrument.runtime."] {
            java.arg(format!("-XX:CompileCommand=compileonly,{package}*::*"));
        }
        let said = java
            .arg("-XX:CompileCommand=quiet")
            .env("INSTRUMENT_RECORD", "off")
            .args(&self.arguments)
            .current_dir(self.folder.path().join(side))
            .run_quietly()?;
        let mut compilations = Compilations::default();
        for line in String::from_utf8_lossy(&said.stdout).lines() {
            compilations.read(line, self.package);
        }
        Ok(compilations)
    }
}

impl Compilations {
    /// Reads `   275   46   !b  1       Main::override (65 bytes)   COMPILE SKIPPED: reason`.
    fn read(&mut self, line: &str, package: &str) {
        let Some((head, rest)) = line.split_once(" (").filter(|(head, _)| head.contains("::")) else {
            return;
        };
        let method = head.rsplit(' ').next().unwrap_or_default();
        let Some((size, note)) = rest.split_once(')').filter(|(size, _)| size.ends_with(" bytes")) else {
            return;
        };
        // Hidden classes have other names in every run.
        if !method.starts_with(package) || method.contains('/') || size.is_empty() {
            return;
        }
        if note.contains("COMPILE SKIPPED") || head.contains("not compilable") {
            self.refused.insert(method.to_string(), line.trim().to_string());
        } else if !note.contains("made not") && !head.contains("made not") {
            self.compiled.insert(method.to_string());
        }
    }
}

/// The methods that the account says HotSpot will not compile.
fn noted_as_too_long(report: &Path) -> Result<BTreeSet<String>> {
    let mut methods = BTreeSet::new();
    for line in
        fs::read_to_string(report)?.lines().filter(|line| line.contains("HotSpot will not compile it"))
    {
        let line: serde_json::Value = serde_json::from_str(line)?;
        let [class, method] = ["class", "method"].map(|key| line[key].as_str().unwrap_or_default());
        methods.insert(format!("{}::{method}", class.replace('/', ".")));
    }
    Ok(methods)
}

/// Compares the compilations of a program, bare and rewritten; returns how many methods are compiled.
fn compare(name: &str, program: &Program, faults: &mut String) -> Result<usize> {
    let mut compiled = [BTreeSet::new(), BTreeSet::new()];
    for (compiler, flags) in COMPILERS {
        let bare = program.run("bare", flags).with_context(|| format!("{name}, bare, {compiler}"))?;
        let rewritten = program.run("rewritten", flags).with_context(|| format!("{name}, {compiler}"))?;
        for (_, line) in rewritten.refused.iter().filter(|(method, _)| !bare.refused.contains_key(*method)) {
            writeln!(faults, "{name}: {compiler} refuses only the rewritten method: {line}")?;
        }
        for method in program.too_long.intersection(&rewritten.compiled) {
            writeln!(faults, "{name}: {compiler} compiles {method}, which the account calls too long")?;
        }
        eprintln!(
            "{name}: {compiler} compiled {} bare, {} rewritten",
            bare.compiled.len(),
            rewritten.compiled.len()
        );
        for (all, more) in compiled.iter_mut().zip([bare, rewritten]) {
            all.extend(more.compiled);
        }
    }
    let [bare, rewritten] = compiled;
    for method in bare.difference(&rewritten).filter(|method| !program.too_long.contains(*method)) {
        writeln!(faults, "{name}: {method} is compiled only as it was")?;
    }
    Ok(bare.len())
}

/// Compiles sources into a folder.
fn javac(folder: &Path, sources: &[PathBuf]) -> Result<()> {
    Jdk::default_kit()?
        .tool("javac")
        .args(["-g", "-nowarn", "-d"])
        .arg(folder)
        .args(sources)
        .run_quietly()?;
    Ok(())
}

/// A class with a method whose code is 6 bytes shorter than HotSpot compiles.
fn nearly_too_long(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("Long.java");
    let statements = "a += b; b ^= a;\n".repeat(999);
    let source = format!(
        "class Long {{ static int longest(int a, int b) {{ {statements} return a; }}
         public static void main(String[] args) {{ int x = 0; for (int i = 0; i < 9; i++) x = longest(x, i); System.exit(x == 1 ? 1 : 0); }} }}"
    );
    fs::write(&path, source)?;
    Ok(path)
}

#[test]
fn small_programs_are_compiled_as_before() -> Result<()> {
    let work = tempfile::tempdir()?;
    let (truth, others) = (work.path().join("truth"), work.path().join("others"));
    javac(&truth, &[root().join("bench/java/Truth.java")])?;
    let victims = [java_source("agent/Contention.java"), root().join("golden/try-finally-returns/Main.java")];
    javac(&others, &[&victims[..], &[nearly_too_long(work.path())?]].concat())?;
    let mut faults = String::new();
    let truths = [(truth, "truth")];
    // Those that call little of the JDK, which is interpreted here.
    for program in ["matrix", "mpegaudio"] {
        let subject = Program::new(&truths, "Truth", &["-cp", "truth", "Truth", program, "0", "1"])?;
        ensure!(compare(program, &subject, &mut faults)? > 5, "hardly a method of {program} was compiled");
    }
    let others = [(others, "others")];
    for (main, package, argument, at_least) in
        [("Contention", "Contention", "measure", 10), ("Main", "Main", "", 5), ("Long", "Long", "", 2)]
    {
        let arguments: Vec<&str> =
            ["-cp", "others", main, argument].into_iter().filter(|a| !a.is_empty()).collect();
        let subject = Program::new(&others, package, &arguments)?;
        ensure!(compare(main, &subject, &mut faults)? >= at_least, "hardly a method of {main} was compiled");
        ensure!(
            subject.too_long.contains("Long::longest"),
            "the account does not name Long.longest: {:?}",
            subject.too_long
        );
    }
    ensure!(faults.is_empty(), "{faults}");
    Ok(())
}

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: a minute and more for what five small programs show as well"]
fn javac_is_compiled_as_before() -> Result<()> {
    let modules = Corpus::open()?.jdk_modules(Jdk::default_kit()?)?;
    let compiler =
        modules.into_iter().find(|jar| jar.ends_with("jdk.compiler.jar")).context("no jdk.compiler")?;
    let source = java_source("agent/Contention.java");
    let program = Program::new(
        &[(compiler, "jdk.compiler.jar")],
        "com.sun.tools.javac.",
        &[
            "--patch-module=jdk.compiler=jdk.compiler.jar",
            "--add-modules=jdk.compiler",
            "-m",
            "jdk.compiler/com.sun.tools.javac.Main",
            "-proc:none",
            "-d",
            "classes",
            source.to_str().context("a path that is no text")?,
        ],
    )?;
    let mut faults = String::new();
    ensure!(compare("javac", &program, &mut faults)? > 1_000, "hardly a method of javac was compiled");
    ensure!(faults.is_empty(), "{faults}");
    Ok(())
}
