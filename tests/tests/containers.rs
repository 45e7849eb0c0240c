//! Programs in namespaces and places as containers have them, recorded from inside and from outside: it works, or is refused with the reason.
#![cfg(target_os = "linux")]

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::resident::{classes, text};
use instrument_tests::subject;
use rustix::process::getuid;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const NAMELESS: &[&str] = &["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"];
const ALL: &[&str] = &["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
const WITH_USER: &[&str] =
    &["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// All but `out`, which is a mount of its own.
const READ_ONLY: &str = "mount --bind out out && mount -o remount,bind,ro / && cd out";
const READ_ONLY_BUT_TMP: &str =
    "mount --bind out out && mount -o remount,bind,ro / && mount -t tmpfs none /tmp";

/// Where a program runs.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    /// What stands before everything.
    first: &'static [&'static str],
    /// What `unshare` is to make; nothing: no namespaces.
    unshare: &'static [&'static str],
    /// What a shell does there.
    prepare: &'static str,
    /// What stands before each command there.
    before: &'static [&'static str],
    /// Why nobody can attach, if that is so.
    refusal: Option<&'static str>,
    /// Why root cannot do so from outside.
    refusal_outside: Option<&'static str>,
}

const PLAIN: Place = Place {
    name: "",
    first: &[],
    unshare: &[],
    prepare: "true",
    before: &[],
    refusal: None,
    refusal_outside: None,
};

const NAMESPACES: Place =
    Place { name: "namespaces", unshare: ALL, prepare: "mount -t tmpfs none /tmp", ..PLAIN };

const PLACES: [Place; 7] = [
    Place { name: "no HOME", before: &["env", "-i"], ..PLAIN },
    Place { name: "a uid without a name", before: NAMELESS, ..PLAIN },
    NAMESPACES,
    Place {
        name: "noexec /tmp",
        unshare: &["--mount"],
        prepare: "mount -t tmpfs -o noexec none /tmp",
        ..PLAIN
    },
    Place { name: "a read-only root", unshare: ALL, prepare: READ_ONLY_BUT_TMP, ..PLAIN },
    Place {
        name: "a read-only root and /tmp",
        unshare: &["--mount"],
        prepare: READ_ONLY,
        refusal: Some("its /tmp is read-only"),
        ..PLAIN
    },
    Place {
        name: "a user namespace",
        first: NAMELESS,
        unshare: WITH_USER,
        prepare: "mount -t tmpfs none /tmp",
        refusal_outside: Some("is in a user namespace that does not know uid 0"),
        ..PLAIN
    },
];

impl Place {
    /// A command that makes this place, and runs this in it.
    fn command(&self, folder: &Path, words: &[&str]) -> Command {
        let mut all: Vec<&str> = self.first.to_vec();
        if !self.unshare.is_empty() {
            all.push("unshare");
            all.extend(self.unshare);
            all.extend(["sh", "-c"]);
        }
        let script = format!("{} && exec \"$@\"", self.prepare);
        if !self.unshare.is_empty() {
            all.extend([script.as_str(), "sh"]);
        }
        all.extend(self.before);
        all.extend(words);
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).current_dir(folder).env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
        command
    }
}

/// A program in its place.
struct Contained<'a> {
    place: Place,
    folder: &'a Path,
    child: Child,
    /// As it is here.
    pid: String,
}

impl<'a> Contained<'a> {
    /// None: this machine makes no such place.
    fn start(place: Place, folder: &'a Path, java: &[&str]) -> Result<Option<Contained<'a>>> {
        let mut command = place.command(folder, java);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut line)?;
        let id = child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let pid = children.split_whitespace().next().map_or_else(|| id.to_string(), str::to_owned);
        let program = Contained { place, folder, child, pid };
        if line != "ready\n" {
            let is_made = place.command(folder, &["true"]).status()?.success();
            ensure!(!is_made, "{}: the program did not start", place.name);
            println!("not run: {} cannot be made here", place.name);
            return Ok(None);
        }
        Ok(Some(program))
    }

    /// Calls the binary, from inside or from outside; whether it succeeded, and all that it said. `PID` stands for the program.
    fn call(&self, inside: bool, line: &str) -> Result<(bool, String)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let own = status.lines().find_map(|line| line.strip_prefix("NSpid:")).context("NSpid")?;
        let pid = if inside { own.split_whitespace().last().context("a pid")? } else { &self.pid };
        let binary = subject::instrument()?.display().to_string();
        let line = line.replace("instrument", &binary).replace("PID", pid);
        let mut words: Vec<&str> = Vec::new();
        if inside && !self.place.unshare.is_empty() {
            words.extend(["nsenter", "--target", &self.pid, "--mount", "--pid"]);
            let user = self.place.unshare.contains(&"--user");
            words.extend(user.then_some(["--user", "--setuid=0", "--setgid=0"]).into_iter().flatten());
        }
        if inside {
            words.extend(self.place.before);
        }
        // Where it is in the other file system as well.
        let script = format!("cd '{}/out' && {line}", self.folder.display());
        words.extend(["sh", "-c", &script]);
        let mut call = Command::new(words[0]);
        call.args(&words[1..]).env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
        let output = call.output()?;
        Ok((output.status.success(), text(&output.stdout) + &text(&output.stderr)))
    }
}

impl Drop for Contained<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A screen that has shown the program's methods.
const TOP: &str =
    "(sleep 1; printf q) | script -qec 'stty rows 20 cols 110; TERM=xterm instrument top PID' /dev/null";

/// A folder outside of /tmp, which is another one in some places, with the program; and the words that run it.
fn prepared() -> Result<(TempDir, Vec<String>)> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let classes_there = folder.path().join("classes");
    Command::new("cp").arg("-r").arg(classes()).arg(&classes_there).run_quietly()?;
    fs::create_dir(folder.path().join("out"))?;
    Command::new("chmod").args(["-R", "a+rwX"]).arg(folder.path()).run_quietly()?;
    let mut java = Jdk::default_kit()?.brief_java();
    java.arg("-cp").arg(classes_there).arg("Attached");
    let words = [java.get_program()].into_iter().chain(java.get_args());
    let words = words.map(|word| word.to_string_lossy().into_owned()).collect();
    Ok((folder, words))
}

fn is_root() -> bool {
    if !getuid().is_root() {
        println!("not run: this is for root");
    }
    getuid().is_root()
}

#[test]
fn programs_in_containers_are_recorded_from_inside_and_outside() -> Result<()> {
    if !is_root() {
        return Ok(());
    }
    for place in PLACES {
        let (folder, java) = prepared()?;
        let folder = folder.path();
        let java: Vec<&str> = java.iter().map(String::as_str).collect();
        let Some(program) = Contained::start(place, folder, &[&java[..], &["1"]].concat())? else { continue };
        let [binary, profile] =
            [subject::instrument()?, folder.join("out/run.iprof")].map(|path| path.display().to_string());
        let output = place
            .command(folder, &[&[&*binary, "run", "--out", &profile, "--"], &java[..]].concat())
            .output()?;
        let said = text(&output.stdout) + &text(&output.stderr);
        ensure!(output.status.success() && said.contains("profile: "), "{}: {said}", place.name);
        ensure!(Path::new(&profile).exists(), "{}: {said}", place.name);
        for inside in [true, false] {
            is_recorded(&program, inside)
                .with_context(|| format!("{}, from inside: {inside}", place.name))?;
        }
    }
    Ok(())
}

#[test]
fn every_request_reaches_a_program_in_namespaces_of_its_own() -> Result<()> {
    if !is_root() {
        return Ok(());
    }
    let (folder, java) = prepared()?;
    let java: Vec<&str> = java.iter().map(String::as_str).chain(["1"]).collect();
    let Some(program) = Contained::start(NAMESPACES, folder.path(), &java)? else { return Ok(()) };
    let call = |line: &str| -> Result<String> {
        let (succeeds, said) = program.call(false, line)?;
        ensure!(succeeds, "{line}: {said}");
        Ok(said)
    };
    // There, its /tmp is another one.
    let said = call("cd /tmp && instrument attach PID --max-pause 1h")?;
    ensure!(said.contains("is recorded: /proc/"), "{said}");
    for verb in ["status", "threads", "classes", "monitors", "pause", "resume", "gc", "snapshot /tmp/s.iprof"]
    {
        call(&format!("instrument ctl PID {verb}"))?;
    }
    call("instrument view PID --html page.html")?;
    call("instrument ctl PID stop")?;
    // Again, and until it is over.
    let said = call("instrument attach PID --max-pause 1h --for 200ms --report 'xprof --prune 0'")?;
    ensure!(said.contains("recording has ended") && said.contains("Attached.recurse"), "{said}");
    Ok(())
}

fn is_recorded(program: &Contained<'_>, inside: bool) -> Result<()> {
    let place = program.place;
    let attached = program.call(inside, "instrument attach PID --max-pause 1h")?;
    if let Some(refusal) = place.refusal.or(place.refusal_outside.filter(|_| !inside)) {
        ensure!(!attached.0 && attached.1.contains(refusal), "{attached:?}");
        return Ok(());
    }
    ensure!(attached.0 && attached.1.contains("is recorded: "), "{attached:?}");
    let page = format!("instrument view PID --html page-{inside}.html");
    for line in ["instrument ctl PID status", TOP, &page, "instrument ctl PID stop"] {
        let said = program.call(inside, line)?;
        ensure!(said.0, "{line}: {said:?}");
        ensure!(line != TOP || said.1.contains("Attached."), "{said:?}");
    }
    Ok(())
}
