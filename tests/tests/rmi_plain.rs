//! Jars that were rewritten on disk, under plain `java` and no native agent, with the JDK's own classes for remote calls rewritten as well:
//! by `instrument jdk-patch` and JDK_JAVA_OPTIONS, by the launcher agent of the jar, or in a JDK that `instrument jdk` made. Every call has its two
//! sides.

use instrument_tests::shared;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::rmi::{
    Running, TRANSFORMS, classes, count, free_port, java, matched, merged, profile, unmatched,
};
use instrument_tests::subject;
use walkdir::WalkDir;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Patch,
    Launcher,
    Image,
}

/// Virtual machines that the two ways are for; oldest first.
fn jres() -> &'static [Jre] {
    static JRES: OnceLock<Vec<Jre>> = OnceLock::new();
    JRES.get_or_init(|| jre::all().unwrap())
}

fn jre(index: usize) -> &'static Jre {
    &jres()[index % jres().len()]
}

/// The programs in a jar that starts one of them, with more lines in its manifest.
fn plain(main: &str, more: &str, jar: &Path) -> Result<()> {
    let mut zip = zip::ZipWriter::new(fs::File::create(jar)?);
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("META-INF/MANIFEST.MF", options)?;
    write!(zip, "Manifest-Version: 1.0\r\n{}{more}\r\n", main_class(main))?;
    for entry in WalkDir::new(classes()).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() {
            zip.start_file(entry.path().strip_prefix(classes())?.to_string_lossy(), options)?;
            zip.write_all(&fs::read(entry.path())?)?;
        }
    }
    zip.finish()?;
    Ok(())
}

fn main_class(main: &str) -> String {
    if main.is_empty() { String::new() } else { format!("Main-Class: {main}\r\n") }
}

fn rewrite(input: &Path, output: &Path, launcher: &[&Jre]) -> Result<Command> {
    let mut rewrite = subject::call()?;
    rewrite.arg(input).arg("-o").arg(output).args(["--transform", "method-events,thread-links,rmi"]);
    for jre in launcher {
        rewrite.arg("--launcher-agent").arg(&jre.home);
    }
    Ok(rewrite)
}

/// The rewritten jar that starts a program; its launcher agent, if it has one, is for all virtual machines here.
fn jar(way: Way, main: &str) -> Result<PathBuf> {
    let folder = shared::folder(&format!("rmi-plain-{main}-{way:?}"), |folder| {
        let input = folder.join("plain.jar");
        plain(main, "", &input)?;
        let all: Vec<&Jre> = if way == Way::Launcher { jres().iter().collect() } else { Vec::new() };
        rewrite(&input, &folder.join("rewritten.jar"), &all)?.run_quietly()?;
        Ok(())
    });
    Ok(folder.join("rewritten.jar"))
}

/// JDK_JAVA_OPTIONS for a virtual machine.
fn options(jre: &Jre) -> Result<String> {
    // A path with a space.
    let folder = shared::folder(&format!("rmi-plain-patch-{}", jre.version), |folder| {
        let mut call = subject::call()?;
        call.args(["--quiet", "jdk-patch", "--java-home"])
            .arg(&jre.home)
            .arg("-o")
            .arg(folder.join("the patch"));
        Ok(fs::write(folder.join("options"), call.run_quietly()?.stdout)?)
    });
    Ok(fs::read_to_string(folder.join("options"))?.trim_end().to_owned())
}

/// A copy of a virtual machine with its classes for remote calls rewritten.
fn image(jre: &Jre) -> Result<Jre> {
    let folder = shared::folder(&format!("rmi-plain-image-{}", jre.version), |folder| {
        let mut call = subject::call()?;
        call.args(["jdk", "--transform", "rmi", "--java-home"])
            .arg(&jre.home)
            .arg("-o")
            .arg(folder.join("jdk"));
        call.run_quietly()?;
        Ok(())
    });
    Ok(Jre { home: folder.join("jdk"), version: jre.version })
}

fn program(way: Way, jre: &Jre, main: &str, name: &str, folder: &Path) -> Result<Command> {
    let mut java = if way == Way::Image { image(jre)?.brief_java() } else { jre.brief_java() };
    java.current_dir(folder).arg("-Djava.rmi.server.hostname=127.0.0.1");
    java.arg(format!("-Dinstrument.name={name}"));
    if way == Way::Patch {
        java.env("JDK_JAVA_OPTIONS", options(jre)?).arg("-cp").arg(jar(way, main)?).arg(main);
    } else if way == Way::Image {
        java.arg("-cp").arg(jar(way, main)?).arg(main);
    } else {
        java.arg("-jar").arg(jar(way, main)?);
    }
    Ok(java)
}

fn check_said(errors: &str) -> Result<()> {
    ensure!(!errors.contains("instrument:") && !errors.contains("Exception"), "{errors}");
    Ok(())
}

fn chain(way: Way) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let port = free_port().to_string();
    let mut servers = Vec::new();
    for (index, (name, next)) in [("s3", "end"), ("s2", "s3"), ("s1", "s2")].into_iter().enumerate() {
        let mut java = program(way, jre(index), "BeaconServer", name, folder)?;
        java.args([&port, name, next]);
        servers.push(Running::start(java, name, folder)?);
    }
    let mut client = program(way, jre(3), "BeaconClient", "client", folder)?;
    let said = client.args([&port, "s1", "20"]).run_quietly()?;
    check_said(&String::from_utf8_lossy(&said.stderr))?;
    for server in servers {
        check_said(&server.stop()?.1)?;
    }
    let files = ["s2", "s3", "client", "s1"].map(|name| profile(folder, name));
    let merged = merged(&files.into_iter().collect::<Result<Vec<_>>>()?, &[])?;
    assert_eq!(unmatched(&merged), [], "{way:?}");
    let [by_return, by_place, by_ports] = matched(&merged);
    ensure!(by_return >= 60 && by_place + by_ports == 0, "{way:?}: {}", merged["matching"]);
    let (served, remote) = ("BeaconServer.remoteFoo", "remote remoteFoo");
    let way_down = [
        "client (pid",
        "main",
        "BeaconClient.main",
        remote,
        "s1 (pid",
        served,
        remote,
        "s2 (pid",
        served,
        remote,
        "s3 (pid",
        served,
    ];
    assert_eq!(count(&merged, &way_down), Some(20), "{way:?}");
    Ok(())
}

fn storm(way: Way) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let port = free_port().to_string();
    let newest = jres().len() - 1;
    let mut servers = Vec::new();
    for (name, index, more) in
        [("a", newest, &["b", "registry"][..]), ("b", newest.saturating_sub(1), &["a"])]
    {
        let mut java = program(way, jre(index), "StormServer", name, folder)?;
        java.args([port.as_str(), name]).args(more);
        servers.push(Running::start(java, name, folder)?);
    }
    let mut client = program(way, jre(newest.saturating_sub(2)), "StormClient", "client", folder)?;
    let said = client.args([&port, "0", "4", "250"]).run_quietly()?;
    check_said(&String::from_utf8_lossy(&said.stderr))?;
    let said = String::from_utf8(said.stdout)?;
    let log = said.strip_prefix("0 wrong\n").context(said.clone())?;
    for server in servers {
        server.stop()?;
    }
    // What the client wrote down itself: thread, side, serial numbers.
    let lines = log.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let calls: usize = lines.filter(|words| words.get(1) == Some(&"made")).map(|words| words.len() - 2).sum();
    ensure!(calls >= 1000, "{calls}");
    let files = ["a", "b", "client"].map(|name| profile(folder, name));
    let merged = merged(&files.into_iter().collect::<Result<Vec<_>>>()?, &[])?;
    let rows = unmatched(&merged);
    // The collector's last calls end with the processes.
    let cut_off = ["failed-before-sending", "not-dispatched", "in-flight"];
    ensure!(rows.iter().all(|row| cut_off.contains(&row.2.as_str()) && row.4 < 5), "{way:?}: {rows:?}");
    ensure!(matched(&merged)[0] >= calls as u64, "{way:?}: {}", merged["matching"]);
    println!("{way:?}: {calls} calls by the client alone, {:?} matched, {rows:?}", matched(&merged));
    Ok(())
}

#[test]
fn a_patched_jdk_records_both_sides_of_every_call() -> Result<()> {
    chain(Way::Patch)?;
    storm(Way::Patch)
}

#[test]
fn a_launcher_agent_records_both_sides_of_every_call() -> Result<()> {
    chain(Way::Launcher)?;
    storm(Way::Launcher)
}

#[test]
fn a_rewritten_jdk_records_both_sides_of_every_call() -> Result<()> {
    chain(Way::Image)?;
    if Corpus::full() { storm(Way::Image) } else { Ok(()) }
}

#[test]
fn clients_with_the_native_agent_find_servers_without() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    for (index, way) in [Way::Patch, Way::Launcher].into_iter().enumerate() {
        let (port, name) = (free_port().to_string(), format!("server{index}"));
        let mut server = program(way, jre(index + 1), "BeaconServer", &name, folder)?;
        server.args([&port, "s", "end"]);
        let server = Running::start(server, &name, folder)?;
        let client_name = format!("client{index}");
        let mut client = java(jre(index), Some(TRANSFORMS), &client_name, folder)?;
        client.args(["BeaconClient", &port, "s", "9"]).run_quietly()?;
        check_said(&server.stop()?.1)?;
        let merged = merged(&[profile(folder, &name)?, profile(folder, &client_name)?], &[])?;
        assert_eq!(unmatched(&merged), [], "{way:?}");
        ensure!(matched(&merged)[0] >= 10, "{way:?}: {}", merged["matching"]);
    }
    // Both at once: the native agent finds the work done.
    let (port, jre) = (free_port().to_string(), jre(1));
    let mut both = program(Way::Patch, jre, "BeaconServer", "both", folder)?;
    both.env("JAVA_TOOL_OPTIONS", agent::option(TRANSFORMS)?).args([&port, "s", "end"]);
    check_said(&Running::start(both, "both", folder)?.stop()?.1)
}

fn said(java: &mut Command) -> Result<String> {
    // Nobody listens there.
    let Output { stderr, .. } = java.args([&free_port().to_string(), "s", "1"]).capture()?;
    Ok(String::from_utf8(stderr)?)
}

/// A virtual machine that is not the one that something was made for gets a warning; nothing of a jar that is not for it is used there.
#[test]
fn what_is_made_for_another_jdk_says_so() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let [older, newer] = [jre(0), jres().last().context("a virtual machine")?];
    ensure!(older.version < newer.version, "one virtual machine only");
    let mut patched = program(Way::Patch, newer, "BeaconClient", "patched", folder)?;
    let line = said(patched.env("JDK_JAVA_OPTIONS", options(older)?))?;
    let expected = format!("instrument: JDK_JAVA_OPTIONS has classes of Java {}.", older.version);
    ensure!(line.contains(&expected) && line.contains("run instrument jdk-patch for this JDK"), "{line}");

    let (input, only) = (folder.join("plain.jar"), folder.join("only.jar"));
    plain("BeaconClient", "", &input)?;
    rewrite(&input, &only, &[newer])?.run_quietly()?;
    let line = said(older.brief_java().current_dir(folder).arg("-jar").arg(&only))?;
    let expected = format!("instrument: this jar was prepared for Java {}.", newer.version);
    let cure = format!("--launcher-agent {}", older.home.canonicalize()?.display());
    ensure!(line.contains(&expected) && line.contains(&cure), "{line}");
    ensure!(line.contains("java.rmi.ConnectException") && line.matches("instrument:").count() == 1, "{line}");
    // Not started in the way that starts it.
    let line = said(newer.brief_java().current_dir(folder).arg("-cp").arg(&only).arg("BeaconClient"))?;
    ensure!(line.contains("instrument: the launcher agent of this jar was not started"), "{line}");
    ensure!(line.contains("java.rmi.ConnectException"), "{line}");
    // A security manager lets it do nothing: the program gets as far as it would.
    if let Some(managed) = jres().iter().find(|jre| jre.version == 17) {
        let mut java = managed.brief_java();
        java.current_dir(folder)
            .arg("-Djava.security.manager")
            .arg("-jar")
            .arg(jar(Way::Launcher, "BeaconClient")?);
        let line = said(&mut java)?;
        ensure!(line.contains("instrument: the JDK's classes could not be redefined"), "{line}");
        ensure!(line.contains("at BeaconClient.main"), "{line}");
    }
    Ok(())
}

#[test]
fn what_cannot_have_a_launcher_agent_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.jar");
    for (main, more, expected) in [
        ("", "", "no input is a jar with a Main-Class"),
        (
            "BeaconClient",
            "Launcher-Agent-Class: a.B\r\n",
            "Launcher-Agent-Class: a.B, and a jar can have only one",
        ),
        ("BeaconClient", "Can-Redefine-Classes: false\r\n", "Can-Redefine-Classes: false"),
    ] {
        let input = folder.path().join("in.jar");
        plain(main, more, &input)?;
        let done = rewrite(&input, &output, &[jre(0)])?.capture()?;
        let said = String::from_utf8(done.stderr)?;
        ensure!(!done.status.success() && said.contains(expected) && !output.exists(), "{more}: {said}");
    }
    Ok(())
}
