//! Rewritten jars in archives of classes, which programs start from: AppCDS on Java 17, an AOT cache on 25. No class is dropped, and what is
//! recorded is the same as without.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use instrument_tests::agent::{self, Outcome, finish};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;
use tempfile::TempDir;

/// A way to start from an archive of classes.
struct Archiving {
    jdk: Jdk,
    /// What makes the archive as the program ends.
    make: &'static str,
    /// What starts from it, and refuses to start without it.
    use_it: [&'static str; 2],
}

fn ways() -> Result<Vec<Archiving>> {
    let mut ways = Vec::new();
    if let Some(jdk) = Jdk::at_least(17)?.filter(|jdk| jdk.version < 24) {
        ways.push(Archiving {
            jdk,
            make: "-XX:ArchiveClassesAtExit=",
            use_it: ["-XX:SharedArchiveFile=", "-Xshare:on"],
        });
    }
    match Jdk::at_least(25)? {
        Some(jdk) => ways.push(Archiving {
            jdk,
            make: "-XX:AOTCacheOutput=",
            use_it: ["-XX:AOTCache=", "-XX:AOTMode=on"],
        }),
        None => println!("not run: no JDK with AOT caches"),
    }
    Ok(ways)
}

/// `Shared`, as a jar, rewritten and bare.
struct Jars {
    folder: TempDir,
}

impl Jars {
    fn new() -> Result<Jars> {
        let folder = tempfile::tempdir()?;
        let classes = agent::compile(&["Shared.java"], 8, &folder.path().join("classes"))?;
        let bare = folder.path().join("bare.jar");
        let mut jar = Jdk::default_kit()?.tool("jar");
        jar.arg("cfe").arg(&bare).args(["Shared", "-C"]).arg(classes).arg(".").run_quietly()?;
        subject::rewrite::<&str>(&bare, &folder.path().join("rewritten.jar"), &[])?;
        Ok(Jars { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn with_path(option: &str, path: &Path) -> String {
    format!("{option}{}", path.display())
}

fn java(jdk: &Jdk, options: &[String], jar: &Path) -> Command {
    let mut java = jdk.brief_java();
    java.args(options).arg("-jar").arg(jar);
    java
}

/// Entries and exits of its methods; it has done its work.
fn recorded(outcome: &Outcome, what: &str) -> Result<BTreeMap<String, [u64; 2]>> {
    ensure!(outcome.code == Some(0), "{what}: {:?} {}", outcome.code, outcome.stderr);
    // A JVM that makes an archive, or cannot use one, says so around it.
    ensure!(outcome.stdout.lines().any(|line| line == "166291750 290"), "{what}: {}", outcome.stdout);
    let methods = outcome.methods()?.into_iter();
    Ok(methods.map(|(name, counts)| (name, [counts.entries, counts.exits])).collect())
}

#[test]
fn a_rewritten_jar_starts_from_an_archive_with_all_of_its_classes() -> Result<()> {
    let jars = Jars::new()?;
    let jar = jars.path("rewritten.jar");
    for way in ways()? {
        let what = format!("Java {}", way.jdk.version);
        let expected = recorded(&finish(java(&way.jdk, &[], &jar))?, &what)?;
        ensure!(expected.get("Shared.use") == Some(&[100, 100]), "{what}: {expected:?}");
        ensure!(expected.get("Shared$Square.area") == Some(&[500, 500]), "{what}: {expected:?}");

        let archive = jars.path(&format!("rewritten-{}", way.jdk.version));
        let made = finish(java(&way.jdk, &[with_path(way.make, &archive)], &jar))?;
        ensure!(recorded(&made, &what)? == expected, "{what}: while the archive is made");
        ensure!(archive.is_file(), "{what}: no archive: {}{}", made.stdout, made.stderr);

        let log = jars.path("loaded");
        let mut options = vec![with_path(way.use_it[0], &archive), way.use_it[1].to_owned()];
        options.push(with_path("-Xlog:class+load:file=", &log));
        let found = recorded(&finish(java(&way.jdk, &options, &jar))?, &what)?;
        ensure!(found == expected, "{what}: from the archive: {found:?}, without: {expected:?}");
        let log = fs::read_to_string(log)?;
        let ours = |line: &&str| line.contains(" Shared") || line.contains(" instrument.runtime.");
        let loaded: Vec<_> = log.lines().filter(ours).collect();
        ensure!(
            loaded.iter().any(|line| line.contains(" Shared$Half ")) && loaded.len() > 20,
            "{what}: {log}"
        );
        // C2 loads this one when it first compiles a slow path by itself, which is a matter of time: no archive can be sure to have it.
        let is_rare = |line: &str| line.contains(" instrument.runtime.NotInlined ");
        let elsewhere = loaded.iter().filter(|line| !line.contains("shared objects file") && !is_rare(line));
        let elsewhere: Vec<_> = elsewhere.collect();
        ensure!(elsewhere.is_empty(), "{what}: not from the archive: {elsewhere:#?}");
    }
    Ok(())
}

/// The archive is of the program as it is. What the JVM does with it is its business; what is recorded is not.
#[test]
fn under_the_agent_a_program_with_an_archive_is_recorded_as_without() -> Result<()> {
    let jars = Jars::new()?;
    let jar = jars.path("bare.jar");
    for way in ways()? {
        let what = format!("Java {}, agent", way.jdk.version);
        let agent = agent::option("")?;
        let expected = recorded(&finish(java(&way.jdk, std::slice::from_ref(&agent), &jar))?, &what)?;
        let archive = jars.path(&format!("bare-{}", way.jdk.version));
        let made = finish(java(&way.jdk, &[with_path(way.make, &archive)], &jar))?;
        ensure!(archive.is_file(), "{what}: no archive: {}{}", made.stdout, made.stderr);
        // Java 17 says that it cannot use the archive, and must be allowed to.
        let found =
            recorded(&finish(java(&way.jdk, &[agent, with_path(way.use_it[0], &archive)], &jar))?, &what)?;
        ensure!(found == expected, "{what}: {found:?}, without the archive: {expected:?}");
        ensure!(expected.get("Shared.use") == Some(&[100, 100]), "{what}: {expected:?}");
    }
    Ok(())
}
