//! Builds the runtime and its test programs once, and runs them on every virtual machine that is installed.

#![allow(dead_code, reason = "each test uses its part")]

mod replay;

use instrument_tests::shared;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use instrument_tests::corpus::Corpus;
use instrument_tests::jre::each;
use instrument_tests::machine::Jdk;
use instrument_trace::Profile;
use replay::replay;
use tempfile::TempDir;

/// The ways to record.
pub(crate) const MODES: [&str; 3] = ["counts", "tree", "trace"];

/// A virtual machine, and a way to record on it.
#[derive(Clone)]
pub(crate) struct Jvm {
    java: PathBuf,
    /// Its feature version, as in 17.
    pub(crate) version: u32,
    /// `instrument.record`; `None`: not said.
    pub(crate) record: Option<&'static str>,
    pub(crate) agent: bool,
}

impl Jvm {
    pub(crate) fn recording(&self, record: &'static str) -> Jvm {
        Jvm { record: Some(record), ..self.clone() }
    }

    /// It rewrites nothing and gives the recorder its own clock.
    pub(crate) fn under_the_agent(&self) -> Jvm {
        Jvm { agent: true, ..self.clone() }
    }
}

/// The default JDK, and a newer one if there is one.
pub(crate) fn jvms() -> Vec<Jvm> {
    let default = Jdk::default_kit().unwrap();
    let newer = Jdk::at_least(default.version + 1).unwrap();
    let jvm =
        |kit: &Jdk| Jvm { java: kit.home.join("bin/java"), version: kit.version, record: None, agent: false };
    std::iter::once(default).chain(&newer).map(jvm).collect()
}

/// Every virtual machine, in every way to record with its own clock ([`each`]).
pub(crate) fn for_each_jvm(test: impl Fn(&Jvm)) {
    for (jvm, record) in each(&jvms(), &MODES) {
        // Seen where a test fails.
        println!("Java {}, {record}", jvm.version);
        test(&jvm.recording(record));
    }
}

/// As [`for_each_jvm`], and every way to record that has a clock also with the agent's.
pub(crate) fn for_each_clock(test: impl Fn(&Jvm)) {
    for_each_jvm(&test);
    for (jvm, record) in each(&jvms(), &MODES[1..]) {
        println!("Java {}, {record}, the agent's clock", jvm.version);
        test(&jvm.recording(record).under_the_agent());
    }
}

/// The agent's library, and what lets it be loaded without rewriting anything: not the JDK's loading of classes either, which it does for
/// `method-events`. Test classes of the recorder's own package lie beside it,
/// on the boot path.
fn agent() -> [String; 2] {
    let library = instrument_tests::agent::library().unwrap();
    [
        format!("-agentpath:{}=exclude=**,transform=thread-links,clock=tsc,timing=auto", library.display()),
        format!("-Xbootclasspath/a:{}", beside().display()),
    ]
}

fn beside() -> PathBuf {
    shared::folder("beside-runtime", |folder| {
        let package = folder.join("instrument/runtime");
        std::fs::create_dir_all(&package)?;
        std::fs::copy(classes().join("instrument/runtime/Inside.class"), package.join("Inside.class"))?;
        Ok(())
    })
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-java")
}

/// Compiles the runtime into a directory.
pub(crate) fn build(out: &Path) {
    let javac = Jdk::default_kit().unwrap().tool("javac");
    let output =
        Command::new(sources().join("build.sh")).arg(out).env("JAVAC", javac.get_program()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The runtime and the test programs, compiled.
pub(crate) fn classes() -> PathBuf {
    shared::folder("runtime", |dir| {
        build(dir);
        let tests = [
            "Victim.java",
            "Loaders.java",
            "Overrides.java",
            "Redeploy.java",
            "Modes.java",
            "Paused.java",
            "Library.java",
            "Inside.java",
        ]
        .map(|f| sources().join("test").join(f));
        let mut javac = Jdk::default_kit()?.tool("javac");
        let output = javac.arg("-cp").arg(dir).arg("-d").arg(dir).args(tests).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })
}

/// The same with a clock that stands still but where the program lets time pass.
fn scripted() -> PathBuf {
    shared::folder("scripted-runtime", |dir| {
        build(dir);
        let scripted = sources().join("test/scripted");
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.arg("-cp").arg(dir).arg("-d").arg(dir);
        // In the place of the runtime's own clocks.
        javac.args(["Clock.java", "CpuClock.java", "Timed.java"].map(|file| scripted.join(file)));
        let output = javac.arg(sources().join("test/Inside.java")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })
}

/// A profile; the threads of a trace have their counts, too.
pub(crate) fn parse(data: &[u8]) -> Profile {
    let mut profile = Profile::parse(data).unwrap();
    replay(&mut profile, data);
    profile
}

/// One run of a program in an empty working directory.
pub(crate) struct Run {
    dir: TempDir,
    command: Command,
    flags: Vec<String>,
    program: Vec<String>,
    child: Option<Child>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Run {
    /// `Victim ARGS..`
    pub(crate) fn new(jvm: &Jvm, args: &[&str]) -> Run {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new(&jvm.java);
        command.current_dir(dir.path());
        let mut program = vec!["-cp".to_owned(), classes().display().to_string(), "Victim".to_owned()];
        program.extend(args.iter().map(ToString::to_string));
        let (stdout, stderr) = (String::new(), String::new());
        let mut flags: Vec<String> =
            jvm.record.iter().map(|record| format!("-Dinstrument.record={record}")).collect();
        // As `Jre::java` has it.
        if !Corpus::full() {
            flags.push("-XX:TieredStopAtLevel=1".to_owned());
        }
        if jvm.agent {
            flags.extend(agent());
        }
        Run { dir, command, flags, program, child: None, stdout, stderr, code: None }
    }

    /// Another class instead of `Victim`.
    pub(crate) fn class(mut self, name: &str) -> Run {
        self.program[2] = name.to_owned();
        self
    }

    /// `Timed` instead of `Victim`: nothing takes time but what says so.
    pub(crate) fn timed(self) -> Run {
        let mut run = self.class("Timed").jvm_args(&["-Dinstrument.calibrate=off"]);
        run.program[1] = scripted().display().to_string();
        run
    }

    /// Another program, with only itself on the class path.
    pub(crate) fn main(mut self, main: &str, args: &[&str]) -> Run {
        let own = self.dir.path().join("main");
        std::fs::create_dir(&own).unwrap();
        for entry in std::fs::read_dir(classes()).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_str().unwrap().starts_with(main) {
                std::fs::copy(entry.path(), own.join(entry.file_name())).unwrap();
            }
        }
        self.program = vec!["-cp".to_owned(), own.display().to_string(), main.to_owned()];
        self.program.extend(args.iter().map(ToString::to_string));
        self
    }

    pub(crate) fn jvm_args(mut self, flags: &[&str]) -> Run {
        self.flags.extend(flags.iter().map(ToString::to_string));
        self
    }

    pub(crate) fn env(mut self, key: &str, value: &str) -> Run {
        self.command.env(key, value);
        self
    }

    pub(crate) fn wait(mut self) -> Run {
        let output = self.command.args(&self.flags).args(&self.program).output().unwrap();
        self.stdout = String::from_utf8(output.stdout).unwrap();
        self.stderr = String::from_utf8(output.stderr).unwrap();
        self.code = output.status.code();
        // Seen where a test fails.
        print!("{}", self.stderr);
        self
    }

    /// Waits; the program must end well.
    pub(crate) fn ok(self) -> Run {
        let run = self.wait();
        assert!(run.code == Some(0) && run.stdout.ends_with("done\n"), "{}{}", run.stdout, run.stderr);
        run
    }

    pub(crate) fn start(mut self) -> Run {
        self.command.args(&self.flags).args(&self.program).stdout(Stdio::piped());
        self.child = Some(self.command.spawn().unwrap());
        self
    }

    pub(crate) fn wait_for(&mut self, line: &str) {
        let stdout = self.child.as_mut().unwrap().stdout.take().unwrap();
        let first = BufReader::new(stdout).lines().next().unwrap().unwrap();
        assert_eq!(first, line);
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        let child = self.child.as_mut().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn paths(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap().map(|e| e.unwrap().path());
        entries.filter(|p| p.extension().is_some_and(|e| e == "iprof")).collect()
    }

    pub(crate) fn profiles(&self) -> usize {
        self.paths().len()
    }

    pub(crate) fn profile_path(&self) -> PathBuf {
        let [path] = &self.paths()[..] else { panic!("{:?}; {}", self.paths(), self.stderr) };
        path.clone()
    }

    pub(crate) fn profile_len(&self) -> u64 {
        self.profile_path().metadata().unwrap().len()
    }

    pub(crate) fn profile(&self) -> Profile {
        parse(&std::fs::read(self.profile_path()).unwrap())
    }
}
