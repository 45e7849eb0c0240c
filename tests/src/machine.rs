//! The machine under the tests: its JVMs, and child processes that fail loudly.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

/// No program that the tests start may run longer.
pub const LONGEST_RUN: Duration = Duration::from_secs(1200);

/// For programs of the JDK, which are over before a good compiler or a parallel collector pays.
const SHORT_RUN: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a member of the workspace")
}

/// Cargo's target directory.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root().join(directory),
        None => root().join("target"),
    }
}

/// What the tests fetch, or make of what they fetched: `tests/run` keeps its size within a bound.
pub fn cache() -> PathBuf {
    target().join("cache")
}

/// A file of `tests/java`.
pub fn java_source(name: &str) -> PathBuf {
    root().join("tests/java").join(name)
}

/// A Java development kit.
#[derive(Clone, Debug)]
pub struct Jdk {
    /// Its home directory.
    pub home: PathBuf,
    /// Its feature version, as in 17.
    pub version: u32,
}

impl Jdk {
    /// The kit of `JAVA_HOME`, or else of the `java` on the path: `tests/run` asks that once, and says so with `INSTRUMENT_TEST_DEFAULT_JDK`.
    pub fn default_kit() -> Result<&'static Jdk> {
        static DEFAULT: OnceLock<Jdk> = OnceLock::new();
        if let Some(jdk) = DEFAULT.get() {
            return Ok(jdk);
        }
        let home = match std::env::var_os("JAVA_HOME")
            .or_else(|| std::env::var_os("INSTRUMENT_TEST_DEFAULT_JDK"))
        {
            Some(home) => PathBuf::from(home),
            None => {
                let said = Command::new("java").args(["-XshowSettings:properties", "-version"]).capture()?;
                let said = String::from_utf8_lossy(&said.stderr).into_owned();
                let home = said.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
                PathBuf::from(home.context("java does not say its java.home")?)
            }
        };
        Ok(DEFAULT.get_or_init(|| Jdk::at(home).expect("the default JDK has a readable release file")))
    }

    /// The default kit if it can load classes of Java `version`, or else the oldest of [`Jdk::all`] that can.
    pub fn at_least(version: u32) -> Result<Option<Jdk>> {
        let default = Jdk::default_kit()?;
        if default.version >= version {
            return Ok(Some(default.clone()));
        }
        Ok(Jdk::all()?.into_iter().find(|kit| kit.version >= version))
    }

    /// Every kit, oldest first, one of each version: those of `INSTRUMENT_TEST_JDKS` (homes, separated by colons), or else the default kit and
    /// those in the places where systems have them.
    pub fn all() -> Result<Vec<Jdk>> {
        let mut found: Vec<Jdk> = Vec::new();
        if let Some(listed) = std::env::var_os("INSTRUMENT_TEST_JDKS") {
            found = std::env::split_paths(&listed).map(Jdk::at).collect::<Result<_>>()?;
        } else {
            found.push(Jdk::default_kit()?.clone());
            for parent in ["/usr/lib/jvm", "/opt", "/Library/Java/JavaVirtualMachines"] {
                let mut homes: Vec<PathBuf> =
                    fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
                homes.sort();
                found.extend(homes.into_iter().filter_map(|home| Jdk::at(home).ok()));
            }
        }
        found.sort_by_key(|kit| kit.version);
        found.dedup_by_key(|kit| kit.version);
        Ok(found)
    }

    fn at(home: PathBuf) -> Result<Jdk> {
        let release = read_release(&home)?;
        let version = release
            .trim_start_matches("1.")
            .split(['.', '+', '-', '_'])
            .next()
            .unwrap_or_default()
            .parse()?;
        ensure!(home.join("bin/javac").exists(), "{} has no javac", home.display());
        Ok(Jdk { home, version })
    }

    /// Its full version, as in 17.0.15.
    pub fn release(&self) -> Result<String> {
        read_release(&self.home)
    }

    /// A call of one of its tools. The `javac` of the default kit is that of the server which `tests/run` has started, if it has.
    pub fn tool(&self, name: &str) -> Command {
        let is_served = || {
            std::env::var_os("INSTRUMENT_TEST_COMPILER").is_some()
                && Jdk::default_kit().is_ok_and(|default| default.home == self.home)
        };
        if name == "javac" && is_served() {
            return Command::new(root().join("tests/javac"));
        }
        let mut command = Command::new(self.home.join("bin").join(name));
        // What a user's shell sets must not change what a test sees.
        command.env_remove("JAVA_TOOL_OPTIONS").env_remove("_JAVA_OPTIONS").env_remove("CLASSPATH");
        if name != "java" {
            command.args(SHORT_RUN.map(|flag| format!("-J{flag}")));
        }
        command
    }

    /// A call of `java`, as users have it.
    pub fn java(&self) -> Command {
        self.tool("java")
    }

    /// A call of `java` with one compiler, for a program whose time nobody looks at: the second one takes a third of the processor time there.
    pub fn brief_java(&self) -> Command {
        let mut java = self.java();
        java.arg(SHORT_RUN[0]);
        java
    }

    /// Compiles `sources` for Java 8 into `output`.
    pub fn compile_into(&self, sources: &[PathBuf], output: &Path) -> Result<()> {
        let mut javac = self.tool("javac");
        javac.args(["--release", "8", "-Xlint:-options", "-d"]).arg(output).args(sources).run_quietly()?;
        Ok(())
    }

    /// Compiles files of `tests/java` against `class_path`, once per content; returns the folder of their classes.
    pub fn compile(&self, names: &[&str], class_path: &[PathBuf]) -> Result<PathBuf> {
        static COMPILING: Mutex<()> = Mutex::new(());
        let _guard = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut content = Sha256::new();
        for name in names {
            content.update(fs::read(java_source(name)).with_context(|| name.to_string())?);
        }
        let key = content.finalize()[..6]
            .iter()
            .fold(self.version.to_string(), |key, byte| format!("{key}{byte:02x}"));
        let parent = target().join("tests-java");
        let directory = parent.join(key);
        if !directory.exists() {
            fs::create_dir_all(&parent)?;
            let work = tempfile::Builder::new().tempdir_in(&parent)?;
            let mut javac = self.tool("javac");
            javac.arg("-d").arg(work.path());
            if !class_path.is_empty() {
                javac.arg("-cp").arg(join(class_path));
            }
            javac.args(names.iter().map(|name| java_source(name))).run_quietly()?;
            // Another test process may have been faster.
            if let Err(error) = fs::rename(work.path(), &directory) {
                ensure!(directory.exists(), "{}: {error}", directory.display());
            }
        }
        Ok(directory)
    }
}

fn read_release(home: &Path) -> Result<String> {
    let path = home.join("release");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
    Ok(line.context("no JAVA_VERSION")?.trim_end_matches('"').to_string())
}

/// A class path of several files.
pub fn join<P: AsRef<OsStr>>(paths: &[P]) -> String {
    paths.iter().map(|path| path.as_ref().to_string_lossy()).collect::<Vec<_>>().join(":")
}

/// Child processes that are waited for with a limit, and fail loudly.
pub trait Run {
    /// Runs to the end, whatever the exit code, and returns everything said; an error after 20 minutes.
    fn capture(&mut self) -> Result<Output> {
        self.capture_within(LONGEST_RUN)
    }
    /// As `capture` with another limit: for what may wait for ever.
    fn capture_within(&mut self, limit: Duration) -> Result<Output>;
    /// As `capture`, but any exit code other than 0 is an error that shows what was said.
    fn run_quietly(&mut self) -> Result<Output>;
}

impl Run for Command {
    fn capture_within(&mut self, limit: Duration) -> Result<Output> {
        let mut child = self
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {self:?}"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let stdout = std::thread::spawn(move || read_all(stdout));
        let stderr = std::thread::spawn(move || read_all(stderr));
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if start.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                bail!("{self:?} did not end within {limit:?}");
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let gathered =
            |thread: std::thread::JoinHandle<_>| thread.join().expect("a pipe reader does not panic");
        Ok(Output { status, stdout: gathered(stdout)?, stderr: gathered(stderr)? })
    }

    fn run_quietly(&mut self) -> Result<Output> {
        let output = self.capture()?;
        ensure!(
            output.status.success(),
            "{self:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(output)
    }
}

fn read_all(pipe: Option<impl std::io::Read>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.expect("the pipe was asked for").read_to_end(&mut bytes)?;
    Ok(bytes)
}
