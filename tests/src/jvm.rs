//! The JVMs that the tests run on, and the Java programs of `tests/java`, compiled once per test process.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A JDK: its home and feature version.
#[derive(Clone, Debug)]
pub struct Jdk {
    /// The folder above `bin`.
    pub home: PathBuf,
    /// 8, 11, 17, ..
    pub version: u32,
}

impl Jdk {
    /// A tool of this JDK, such as `java`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok()?;
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        if !home.join("bin/javac").exists() {
            return None;
        }
        let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
        let version = line.trim_matches('"').trim_start_matches("1.");
        let version = version.split(['.', '-', '+', '_']).next()?.parse().ok()?;
        Some(Jdk { home, version })
    }
}

/// Every JDK found, oldest first, one per version: those of `INSTRUMENT_TEST_JDKS` (colon-separated homes), or else
/// `JAVA_HOME`, the one on the path, and `/usr/lib/jvm/*`.
///
/// # Errors
/// None found.
pub fn jdks() -> Result<Vec<Jdk>> {
    let mut homes: Vec<PathBuf> = Vec::new();
    if let Some(listed) = std::env::var_os("INSTRUMENT_TEST_JDKS") {
        homes.extend(std::env::split_paths(&listed));
    } else {
        homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let javac = std::env::split_paths(&path)
            .map(|dir| dir.join("javac"))
            .find_map(|tool| tool.canonicalize().ok());
        homes.extend(javac.and_then(|tool| Some(tool.parent()?.parent()?.to_owned())));
        let system = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
        let mut system: Vec<_> = system.map(|entry| entry.path()).collect();
        system.sort();
        homes.extend(system);
    }
    let mut found: Vec<Jdk> = Vec::new();
    for jdk in homes.iter().filter_map(|home| Jdk::at(home)) {
        if found.iter().all(|known| known.version != jdk.version) {
            found.push(jdk);
        }
    }
    found.sort_by_key(|jdk| jdk.version);
    ensure!(!found.is_empty(), "no JDK found: set INSTRUMENT_TEST_JDKS or JAVA_HOME");
    Ok(found)
}

/// Compiles the given sources (`--release 8`) into `output`.
///
/// # Errors
/// javac's own output.
pub fn compile(jdk: &Jdk, sources: &[PathBuf], output: &Path) -> Result<()> {
    let mut command = Command::new(jdk.tool("javac"));
    command.args(["--release", "8", "-Xlint:-options", "-d"]).arg(output).args(sources);
    let done = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(done.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_a_jdk_that_can_compile() {
        let jdks = super::jdks().unwrap();
        assert!(jdks.iter().all(|jdk| jdk.version >= 8 && jdk.tool("java").exists()), "{jdks:?}");
    }
}
