//! `instrument golden`: what compilers make prints as it was blessed, also when they make it again; what changes is shown.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, Run, join};
use instrument_tests::subject::{call, instrument};
use tempfile::TempDir;

const SOURCE: &str = "
    public class Shape implements Comparable<Shape> {
        enum Kind { ROUND, FLAT }
        private final int size;
        Shape(int size) { this.size = size; }
        public final Kind kind() { return size > 3 ? Kind.ROUND : Kind.FLAT; }
        @Override public int compareTo(Shape other) { return Integer.compare(size, other.size); }
        static String name(Kind kind) {
            switch (kind) { case ROUND: return \"round\"; default: return \"flat\"; }
        }
        public static void main(String[] args) {
            Runnable say = () -> System.out.println(name(new Shape(args.length + 4).kind()));
            say.run();
            try { Object o = args; o.wait(-1); } catch (Exception e) { System.out.println(e.getMessage()); }
        }
    }";

const KOTLIN: &str = "
    package shapes
    data class Point(val x: Int, val y: Int = 1) { inline fun <T> use(f: (Point) -> T): T = f(this) }
    sealed class Shape { object Dot : Shape(); class Line(val to: Point) : Shape() }
    fun name(shape: Shape): String = when (shape) { is Shape.Dot -> \"dot\"; is Shape.Line -> \"line to ${shape.to}\" }
    fun main(args: Array<String>) { println(name(Shape.Line(Point(2)))); println(Point(3).use { it.copy(y = 7) }) }";

/// A folder of cases.
struct Cases(TempDir);

impl Cases {
    fn new() -> Result<Cases> {
        Ok(Cases(tempfile::tempdir()?))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds a case; `command` is an array of TOML, further lines follow it.
    fn add(&self, name: &str, command: &[&str], more: &str, files: &[(&str, &str)]) -> Result<()> {
        let folder = self.path().join(name);
        fs::create_dir(&folder)?;
        let command: Vec<String> = command.iter().map(|word| format!("{word:?}")).collect();
        fs::write(folder.join("case.toml"), format!("command = [{}]\n{more}\n", command.join(", ")))?;
        for (file, text) in files {
            fs::write(folder.join(file), text)?;
        }
        Ok(())
    }

    fn golden(&self, action: &str, options: &[&str]) -> Result<Output> {
        call()?.args(["golden", action]).arg(self.path()).args(options).capture()
    }

    fn says(&self, action: &str, options: &[&str], code: i32, parts: &[&str]) -> Result<String> {
        let output = self.golden(action, options)?;
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let said = said.concat();
        ensure!(output.status.code() == Some(code), "golden {action}: {:?}\n{said}", output.status);
        for part in parts {
            ensure!(said.contains(part), "golden {action} does not say {part:?}:\n{said}");
        }
        Ok(said)
    }
}

fn text(path: &Path) -> Result<String> {
    Ok(path.to_str().context("a path that is not UTF-8")?.to_owned())
}

fn add_kotlin(cases: &Cases, corpus: &Corpus, java: &str, javac: &str) -> Result<()> {
    let compiler = corpus.jar("kotlin-compiler")?;
    // The compiler asks for these two annotations, which its own jar does not have.
    let annotations = cases.path().join("annotations");
    fs::create_dir(&annotations)?;
    for name in ["NotNull", "Nullable"] {
        let source = annotations.join(format!("{name}.java"));
        fs::write(&source, format!("package org.jetbrains.annotations; public @interface {name} {{ }}"))?;
        Command::new(javac).arg("-d").arg(&annotations).arg(source).run_quietly()?;
    }
    let mut jars = vec![corpus.path("kotlin-compiler")?, annotations];
    jars.extend(corpus.class_path(compiler)?);
    let library = text(&corpus.path("kotlin-stdlib-1.3")?)?;
    let command = [
        java,
        "-cp",
        &join(&jars),
        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
        "-no-stdlib",
        "-no-jdk",
        "-no-reflect",
        "-cp",
        &library,
        "-d",
        "{out}",
        "Shapes.kt",
    ];
    cases.add("kotlin", &command, "ignore = [\"lines\"]", &[("Shapes.kt", KOTLIN)])
}

#[test]
fn what_compilers_make_again_prints_the_same_and_what_changes_is_shown() -> Result<()> {
    let jdk = Jdk::default_kit()?;
    let corpus = Corpus::open()?;
    let cases = Cases::new()?;
    let [java, javac] = ["java", "javac"].map(|tool| text(&jdk.home.join("bin").join(tool)));
    let (java, javac) = (java?, javac?);
    let files = [("Shape.java", SOURCE)];
    let more = "main = \"Shape\"";
    cases.add(
        "javac",
        &[
            &javac,
            "-J-XX:TieredStopAtLevel=1",
            "-g",
            "--release",
            "8",
            "-Xlint:-options",
            "-d",
            "{out}",
            "Shape.java",
        ],
        more,
        &files,
    )?;
    let ecj = text(&corpus.path("ecj")?)?;
    cases.add(
        "ecj",
        &[&java, "-XX:TieredStopAtLevel=1", "-jar", &ecj, "-8", "-g", "-d", "{out}", "{case}/Shape.java"],
        more,
        &files,
    )?;
    let mut names = vec!["ecj", "javac"];
    if Corpus::full() {
        add_kotlin(&cases, &corpus, &java, &javac)?;
        names.push("kotlin");
    }
    let home = text(&jdk.home)?;
    let none =
        cases.says("check", &[], 1, &["FAIL javac: no snapshot yet; create it with `golden bless`"])?;
    ensure!(none.contains(&format!("{} cases: 0 as blessed", names.len())), "{none}");
    // Kotlin's classes need its library, which is not on the class path here.
    let run = ["--jvm", &home, "--case", "javac", "--case", "ecj"];
    let mut blessed = cases.says("bless", &run, 0, &["blessed javac: 4 files", "blessed ecj: 3 files"])?;
    if Corpus::full() {
        blessed += &cases.says("bless", &[], 0, &["ok javac", "ok ecj"])?;
    }
    ensure!(names.iter().all(|name| blessed.contains(&format!("blessed {name}: "))), "{blessed}");
    ensure!(fs::read_to_string(cases.path().join("ecj/stdout"))? == "round\ntimeout value is negative\n");
    cases.says("check", &run, 0, &["ok javac", "ok ecj"])?;
    let said = cases.says("check", &[], 0, &[])?;
    ensure!(names.iter().all(|name| said.contains(&format!("ok {name}\n"))), "{said}");

    for name in ["javac", "ecj"] {
        let changed = SOURCE.replace("public final Kind", "public Kind").replace("\"round\"", "\"oval\"");
        fs::write(cases.path().join(name).join("Shape.java"), changed)?;
    }
    let junit = cases.path().join("junit.xml");
    let options = ["--case", "javac", "--case", "ecj", "--jvm", &home, "--junit", &text(&junit)?];
    let said = cases.says("check", &options, 1, &["2 cases: 0 as blessed, 2 not"])?;
    for part in [
        "FAIL javac: 2 files not as blessed\n--- expected/Shape.class.txt\n+++ Shape.class\n",
        "method kind:()LShape$Kind;\n-  flags 0x0011 public final\n+  flags 0x0001 public\n",
        "-        ldc \"round\"\n+        ldc \"oval\"\n",
        "the program printed\noval\ntimeout value is negative\ninstead of\nround\n",
    ] {
        ensure!(said.contains(part), "{part:?} is missing:\n{said}");
    }
    ensure!(!said.contains("compareTo"), "a method that did not change:\n{said}");
    let junit = fs::read_to_string(junit)?;
    let head = "<testsuite name=\"instrument golden\" tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\">";
    ensure!(junit.contains(head) && junit.contains("name=\"ecj\""), "{junit}");
    ensure!(junit.contains("<failure message=\"2 files not as blessed\">"), "{junit}");
    cases.says("bless", &["--case", "javac", "--jvm", &home], 0, &["blessed javac: 2 files"])?;
    cases.says("check", &["--case", "javac", "--jvm", &home], 0, &["ok javac"])?;
    Ok(())
}

#[test]
fn what_goes_wrong_is_said_and_ends() -> Result<()> {
    let cases = Cases::new()?;
    cases.says("check", &[], 2, &["no case; a case is a folder in here with a case.toml"])?;
    let class = fs::read(instrument_tests::machine::root().join("fuzz/corpus/class_scan/Old.class"))?;
    cases.add("missing", &["no-such-compiler", "{out}"], "", &[])?;
    cases.add("fails", &["sh", "-c", "echo unknown flag >&2; exit 3"], "", &[])?;
    cases.add("hangs", &["sh", "-c", "sleep 60 & sleep 60"], "seconds = 1", &[])?;
    cases.add("floods", &["sh", "-c", "yes"], "", &[])?;
    cases.add("nothing", &["true"], "", &[])?;
    cases.add("broken", &["sh", "-c", "printf '\\312\\376\\272\\276\\0\\0' > {out}/A.class"], "", &[])?;
    // Without a command, the class files lie in the folder.
    cases.add("committed", &[], "", &[])?;
    fs::write(cases.path().join("committed/Old.class"), class)?;
    let said = cases.says("bless", &[], 1, &["7 cases: 1 as blessed, 6 not", "blessed committed: 1 file"])?;
    for part in [
        "FAIL missing: cannot start no-such-compiler: No such file",
        "FAIL fails: sh: exit status: 3\nunknown flag\n",
        "FAIL hangs: sh did not end within 1 s, and was killed (`seconds` in case.toml)",
        "FAIL floods: sh printed more than 16 MiB, and was killed",
        "FAIL nothing: no class was made",
        "FAIL broken: A.class: class file is truncated",
    ] {
        ensure!(said.contains(part), "{part:?} is missing:\n{said}");
    }
    cases.says("check", &["--case", "committed"], 0, &["ok committed"])?;
    cases.says("check", &["--case", "other"], 2, &["no case other"])?;
    let here = text(cases.path())?;
    cases.says("check", &["--jvm", &here], 2, &["release"])?;
    fs::write(cases.path().join("committed/case.toml"), "comand = []\n")?;
    cases.says("check", &[], 1, &["committed/case.toml", "unknown field `comand`"])?;
    Ok(())
}

#[test]
fn git_shows_a_class_as_text() -> Result<()> {
    let work = tempfile::tempdir()?;
    let git = |arguments: &[&str]| -> Result<String> {
        let mut git = Command::new("git");
        git.current_dir(work.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]).args(arguments);
        Ok(String::from_utf8(git.run_quietly()?.stdout)?)
    };
    let tool = text(&instrument()?)?;
    git(&["init", "-q"])?;
    git(&["config", "diff.bytecode.textconv", &format!("'{tool}' dump --labels --no-pool")])?;
    git(&["config", "difftool.instrument.cmd", &format!("'{tool}' diff \"$LOCAL\" \"$REMOTE\"")])?;
    fs::write(work.path().join(".gitattributes"), "*.class diff=bytecode\n*.jar diff=bytecode\n")?;
    let mut class = fs::read(instrument_tests::machine::root().join("fuzz/corpus/class_scan/Old.class"))?;
    fs::write(work.path().join("Old.class"), &class)?;
    git(&["add", "."])?;
    git(&["commit", "-q", "-m", "before"])?;
    let number = 30_000i16.to_be_bytes();
    let at = class.windows(2).position(|pair| pair == number).context("the number is there")?;
    class[at..at + 2].copy_from_slice(&77i16.to_be_bytes());
    fs::write(work.path().join("Old.class"), &class)?;
    for said in [git(&["diff"])?, git(&["difftool", "--no-prompt", "--tool", "instrument"])?] {
        let lines: Vec<String> = said.lines().map(|line| line.replace(' ', "")).collect();
        for line in ["-wideiinc730000", "+wideiinc777"] {
            ensure!(lines.iter().any(|found| found == line), "{line} is missing:\n{said}");
        }
    }
    Ok(())
}
