//! `instrument ship`: nothing lost and nothing twice, whatever happens to the one who ships.

use crate::common::Dir;
use instrument_testing::{Script, Writer};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// 2026-11-18.
const START_MS: u64 = 1_795_000_000_000;
const DAY: &str = "2026-11-18";

/// A profile of a program that has ended; `bytes`: of a property that makes it large.
fn profile(pid: u64, bytes: usize) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.word(24, pid).word(32, START_MS).property("record", "tree").calibrated(0.0, 0.0);
    if bytes > 0 {
        writer.property("filler", format!("{pid:08}").repeat(bytes / 8));
    }
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(pid)));
    writer.clocks(0, 5000);
    writer.finish()
}

/// The same of a program that was killed.
fn killed(pid: u64) -> Vec<u8> {
    let mut bytes = profile(pid, 0);
    bytes[80..88].fill(0);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is stored, by what its bytes say that it is called. Every file has its own bytes, and there is nothing else.
#[track_caller]
fn stored(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in
        walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file())
    {
        let name = hex(&fs::read(entry.path()).unwrap());
        assert_eq!(entry.path(), folder.join(DAY).join(format!("{name}.iprof")));
        assert!(names.insert(name));
    }
    names
}

fn names<'a>(profiles: impl IntoIterator<Item = &'a Vec<u8>>) -> BTreeSet<String> {
    profiles.into_iter().map(|bytes| hex(bytes)).collect()
}

/// As if it had not changed for an hour.
fn age(path: &Path) {
    let hour = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(path).unwrap().set_modified(hour).unwrap();
}

#[test]
fn finished_profiles_are_copied_once_and_others_are_named() {
    let dir = Dir::new();
    let whole = [profile(1, 0), profile(2, 0), killed(3)];
    for (name, bytes) in ["a.iprof", "deep/er/b", "deep/c.iprof"].iter().zip(&whole) {
        dir.write(&format!("in/{name}"), bytes);
    }
    dir.write("in/copy of a.iprof", &whole[0]);
    dir.write("in/notes.txt", "no profile");
    dir.write("in/.hidden.iprof", profile(9, 0));
    fs::create_dir(dir.path("out")).unwrap();
    // The one that was killed may still be written.
    let run = dir.line("ship in --to out").expect(0);
    assert!(run.stderr.starts_with("shipped 2 profiles, ") && run.stdout.is_empty(), "{}", run.stderr);
    assert!(run.stderr.ends_with("; 1 were there already; 1 still written\n"), "{}", run.stderr);
    assert_eq!(stored(&dir.path("out")), names(&whole[..2]));
    age(&dir.path("in/deep/c.iprof"));
    dir.line("ship in --to out").says(0, &["shipped 1 profile, ", "; 3 were there already\n"]);
    assert_eq!(stored(&dir.path("out")), names(&whole));
    // Half a copy, a file without a header, an empty one: left for a minute, and then for good.
    dir.write("in/half.iprof", &profile(4, 9000)[..5000]);
    dir.write("in/head.iprof", &profile(4, 0)[..20]);
    dir.write("in/empty.iprof", "");
    dir.line("ship in --to out").says(0, &["; 3 still written\n"]);
    ["half", "head", "empty"].iter().for_each(|name| age(&dir.path(&format!("in/{name}.iprof"))));
    let run = dir
        .line("ship in --to out")
        .says(1, &["shipped 0 profiles, 0 B; 4 were there already; 3 left, see above"]);
    for name in ["half", "head", "empty"] {
        assert!(run.stderr.contains(&format!("warning: in/{name}.iprof: left: ")), "{}", run.stderr);
    }
    assert_eq!(stored(&dir.path("out")), names(&whole));
    assert_eq!(dir.read("in/a.iprof"), whole[0], "what is shipped stays as it is");
}

#[cfg(unix)]
#[test]
fn who_may_not_read_a_profile_may_not_read_its_copy() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    fs::create_dir(dir.path("out")).unwrap();
    for (pid, mode) in [(1, 0o600), (2, 0o440), (3, 0o644)] {
        let whole = profile(pid, 0);
        let path = dir.write(&format!("in/{pid}.iprof"), &whole);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        dir.line("ship in --to out").expect(0);
        let copy = fs::metadata(dir.path(&format!("out/{DAY}/{}.iprof", hex(&whole)))).unwrap();
        assert_eq!(copy.permissions().mode() & 0o777, mode, "{mode:o}");
    }
}

#[test]
fn wrong_usage_is_refused() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(1, 0));
    dir.line("ship a.iprof --to out").says(2, &["--to out: no folder", "a mount is missing"]);
    dir.line("ship a.iprof --to a.iprof").says(2, &["no folder"]);
    fs::create_dir(dir.path("out")).unwrap();
    dir.line("ship nothing --to out").says(2, &["nothing: neither a folder nor a profile"]);
    dir.line("ship a.iprof --to out --watch --interval 0s").says(2, &["more than 0"]);
    dir.line("ship a.iprof --to out --interval 1s").says(2, &["--watch"]);
    dir.line("ship a.iprof").says(2, &["--to"]);
    assert_eq!(dir.list(), ["a.iprof", "out"]);
}

#[test]
fn only_what_a_program_ended_is_removed_and_only_when_it_is_there() {
    let dir = Dir::new();
    let whole = [profile(1, 0), killed(2), profile(3, 0)];
    for (name, bytes) in ["a", "b", "c"].iter().zip(&whole) {
        age(&dir.write(&format!("in/{name}.iprof"), bytes));
    }
    // What is there under its name has other bytes.
    fs::create_dir(dir.path("out")).unwrap();
    let wrong = dir.write(&format!("out/{DAY}/{}.iprof", hex(&whole[2])), vec![7; whole[2].len()]);
    dir.line("ship in --to out --delete").says(0, &["shipped 3 profiles", "; 2 removed here"]);
    assert_eq!(fs::read(wrong).unwrap(), whole[2]);
    assert_eq!(dir.list().iter().filter(|name| name.starts_with("in/")).collect::<Vec<_>>(), ["in/b.iprof"]);
    assert_eq!(stored(&dir.path("out")), names(&whole));
    // The folder may lie in what is shipped: it is not shipped into itself.
    fs::create_dir(dir.path("in/out")).unwrap();
    for _ in 0..2 {
        dir.line("ship in --to in/out --delete").expect(0);
    }
    assert_eq!(stored(&dir.path("in/out")), names(&whole[1..2]));
}

/// A place where waiting for the disk costs nothing.
fn quick() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

fn ship(dir: &Dir, from: &[PathBuf], to: &Path) -> Command {
    let mut command = dir.command(&["ship", "--to"]);
    command.arg(to).args(from).stderr(Stdio::piped());
    command
}

#[test]
fn a_run_that_is_killed_leaves_nothing_half_done() {
    let dir = Dir::new();
    let profiles: Vec<_> = (1..=30).map(|pid| profile(pid, 400_000)).collect();
    for (i, bytes) in profiles.iter().enumerate() {
        dir.write(&format!("in/{i}.iprof"), bytes);
    }
    let (from, to) = ([dir.path("in")], dir.path("out"));
    fs::create_dir(&to).unwrap();
    let (mut killed, mut parts) = (0, 0);
    // At another moment each time.
    for round in 0..60 {
        let mut child = ship(&dir, &from, &to).spawn().unwrap();
        sleep(Duration::from_millis(5 + 7 * (round % 12)));
        let is_done = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        killed += usize::from(!is_done);
        for entry in fs::read_dir(to.join(DAY)).into_iter().flatten().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            match name.strip_suffix(".iprof") {
                Some(hash) => assert_eq!(hash, hex(&fs::read(entry.path()).unwrap())),
                None => parts += usize::from(name.ends_with(".part")),
            }
        }
        // Some of it anew, so that each round has something to do.
        if is_done {
            fs::remove_dir_all(to.join(DAY)).unwrap();
        }
    }
    assert!(killed > 5, "{killed} runs were killed");
    let last = dir.line("ship in --to out").expect(0).stderr;
    println!("{killed} of 60 runs were killed, {parts} parts were left meanwhile; the last one: {last}");
    assert_eq!(stored(&to), names(&profiles), "and no part is left");
}

#[test]
fn a_thousand_hosts_write_into_one_folder() {
    let (dir, place) = (Dir::new(), quick());
    let to = place.path().join("store");
    fs::create_dir(&to).unwrap();
    // Two profiles of each host; every tenth has one that its neighbour has as well.
    let mut all = BTreeSet::new();
    let hosts: Vec<_> = (0..1000).map(|host| place.path().join(format!("host-{host}"))).collect();
    for (i, host) in hosts.iter().enumerate() {
        fs::create_dir(host).unwrap();
        let shared = if i % 10 == 9 { i - 1 } else { i };
        for (name, pid) in [("a", 2 * shared + 1), ("b", 2 * i + 2)] {
            let bytes = profile(pid as u64, 0);
            all.insert(hex(&bytes));
            fs::write(host.join(format!("{name}.iprof")), bytes).unwrap();
        }
    }
    assert_eq!(all.len(), 1900);
    // Four at a time, and each host is shipped by two of them.
    let parts: Vec<&[PathBuf]> = hosts.chunks(250).collect();
    let children: Vec<Child> =
        (0..4).map(|i| ship(&dir, &[parts[i], parts[(i + 1) % 4]].concat(), &to).spawn().unwrap()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(stored(&to), all);
    let again = String::from_utf8(ship(&dir, &hosts, &to).output().unwrap().stderr).unwrap();
    assert_eq!(again, "shipped 0 profiles, 0 B; 2000 were there already\n");
}

/// In a mount of its own, which only the command sees and which is gone with it.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_leaves_no_half_file() {
    let dir = Dir::new();
    let profiles: Vec<_> = (1..=4).map(|pid| profile(pid, 400_000)).collect();
    for (i, bytes) in profiles.iter().enumerate() {
        dir.write(&format!("in/{i}.iprof"), bytes);
    }
    ["out", "kept", "more"].iter().for_each(|name| fs::create_dir(dir.path(name)).unwrap());
    let script = "mount -t tmpfs -o size=1m tmpfs out || exit 99
        \"$0\" ship in --to out; echo code $?
        cp -a out/. kept; mount -o remount,size=9m out
        \"$0\" ship in --to out; echo code $?; cp -a out/. more";
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_instrument"),
    ]);
    let output = match command.current_dir(dir.path("")).output() {
        Ok(output) if output.status.code() != Some(99) && !output.stdout.is_empty() => output,
        other => {
            eprintln!("skipped: nothing can be mounted here: {other:?}");
            return;
        }
    };
    let (said, codes) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert_eq!(codes, "code 1\ncode 0\n", "{said}");
    assert!(said.contains("error: in/") && said.contains("No space left on device"), "{said}");
    assert!(said.contains("not shipped; ") && said.contains("running it again ships the rest"), "{said}");
    let first = stored(&dir.path("kept"));
    assert!((1..4).contains(&first.len()) && first.is_subset(&names(&profiles)), "{first:?}");
    assert_eq!(stored(&dir.path("more")), names(&profiles));
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
#[cfg(unix)]
fn a_watch_ships_what_comes_and_ends_with_a_signal() {
    let dir = Dir::new();
    let (to, profiles) = (dir.path("out"), [profile(1, 0), profile(2, 0), killed(3), profile(4, 0)]);
    fs::create_dir(&to).unwrap();
    dir.write("in/a.iprof", &profiles[0]);
    dir.write("in/bad.iprof", "x");
    age(&dir.path("in/bad.iprof"));
    let line = "ship in --to out --watch --interval 50ms --settled 300ms";
    let mut command = dir.command(&line.split(' ').collect::<Vec<_>>());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let is_there = |bytes: &Vec<u8>| to.join(DAY).join(format!("{}.iprof", hex(bytes))).exists();
    until("what was there", || is_there(&profiles[0]));
    dir.write("in/new/b.iprof", &profiles[1]);
    until("what came later", || is_there(&profiles[1]));
    dir.write("in/c.iprof", &profiles[2]);
    until("what has not changed for a while", || is_there(&profiles[2]));
    // The folder may be away for some time.
    fs::rename(&to, dir.path("away")).unwrap();
    dir.write("in/d.iprof", &profiles[3]);
    sleep(Duration::from_millis(200));
    fs::rename(dir.path("away"), &to).unwrap();
    until("what came meanwhile", || is_there(&profiles[3]));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("in/bad.iprof: left: ").count(), 1, "it is named once: {said}");
    assert!(said.contains("trying again in 50ms") && said.contains("shipped 4 profiles"), "{said}");
    assert_eq!(stored(&to), names(&profiles));
}
