//! The profiles of a run: where they go, which one is replaced, and which ones the program left.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use instrument_analysis::session::file::maps;
use instrument_analysis::session::lookup::{Given, nothing_fits};
use instrument_analysis::session::names::Names;
use instrument_control::run::Line;
use instrument_control::word::Remote;
use instrument_messages::usage;
use instrument_names::snapshot::of_reset;
use instrument_names::word::Word;
use instrument_trace::{Head, Profile};

/// The profile of an earlier run, out of the way of the new one: without this the recorder would choose another name, and the
/// next report would show the old run.
#[derive(Debug)]
pub struct Replaced {
    path: PathBuf,
    /// Its name until the program has started.
    aside: PathBuf,
}

impl Replaced {
    /// Moves the profile at `out` aside, if there is one. `out` may also be a directory, where names are never the same.
    ///
    /// # Errors
    /// A file that is no profile, or the profile of a program that is still running.
    pub fn new(out: &Path) -> Result<Option<Replaced>> {
        Replaced::called(out, out)
    }

    /// The same; messages call it `name`.
    pub(crate) fn called(out: &Path, name: &Path) -> Result<Option<Replaced>> {
        let name = name.display();
        let file = match fs::symlink_metadata(out) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| name.to_string()),
        };
        if out.is_dir() {
            return Ok(None);
        }
        let Some(head) = Some(out).filter(|_| file.is_file()).and_then(head) else {
            return Err(usage(format!(
                "--out {name}: this exists and is no profile; remove it, or choose another name"
            )));
        };
        // A recording of a program that runs on has ended before the virtual machine gives the memory back.
        if !head.has_ended() && maps(head.pid, out) {
            let process = head.pid;
            return Err(usage(format!(
                "--out {name}: process {process} is still recording into this profile; choose another name"
            )));
        }
        let mut aside = out.as_os_str().to_owned();
        aside.push(format!(".{}.old", std::process::id()));
        let aside = PathBuf::from(aside);
        fs::rename(out, &aside).with_context(|| name.to_string())?;
        Ok(Some(Replaced { path: out.to_owned(), aside }))
    }

    /// The program has started: the old profile goes, and what `ctl reset` left beside it.
    pub fn remove(self) {
        // What cannot be removed does no harm but take room.
        let _ = fs::remove_file(&self.aside);
        let _ = fs::remove_file(of_reset(&self.path));
    }

    /// The program could not be started: the old profile is what there is.
    pub fn restore(self) {
        let _ = fs::rename(&self.aside, &self.path);
    }
}

/// Writes the checksum into the profile of a program that has ended by itself, so that whoever reads it later sees whether it was damaged.
/// One that cannot be written has none.
pub fn seal(path: &Path) {
    let is_over = head(path).is_some_and(|head| head.has_ended() && !maps(head.pid, path));
    let file = File::options().read(true).write(true).open(path).ok().filter(|_| is_over);
    let _ = file.map(|file| instrument_trace::seal(&file));
}

/// The folder that profiles go to.
pub fn directory_of(out: Option<&Path>) -> PathBuf {
    match out {
        None => PathBuf::from("."),
        Some(path) if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") => path.to_owned(),
        Some(path) => {
            path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
        }
    }
}

/// The processes of a run that were recorded, by id; none: that is not known.
#[derive(Debug)]
pub struct Recorded(Option<HashSet<u64>>);

impl Recorded {
    /// Those that the agent wrote to the file, and `java`, the process that was started itself.
    pub fn read(processes: &Path, java: Option<u32>) -> Recorded {
        let text = fs::read_to_string(processes).unwrap_or_default();
        let started = text.lines().filter_map(|line| match Line::parse(line) {
            Some(Line::Started(process)) => Some(process),
            _ => None,
        });
        let ids = started.chain(java).map(u64::from);
        Recorded(Some(ids.collect()).filter(|ids: &HashSet<u64>| !ids.is_empty()))
    }

    /// The options and patterns that nothing fitted in any process; none if one of them ended before it could say so.
    pub fn unmatched(processes: &Path) -> Vec<(String, String)> {
        let text = fs::read_to_string(processes).unwrap_or_default();
        let (mut begun, mut ended) = (HashSet::new(), HashSet::new());
        let mut found: BTreeMap<(String, String), HashSet<u32>> = BTreeMap::new();
        for line in text.lines().filter_map(Line::parse) {
            match line {
                Line::Probe { .. } => {}
                Line::Started(process) => _ = begun.insert(process),
                Line::Ended(process) => _ = ended.insert(process),
                Line::Unmatched { process, option, pattern } => {
                    found.entry((option.to_owned(), pattern.to_owned())).or_default().insert(process);
                }
            }
        }
        let everywhere = |by: &HashSet<u32>| begun == ended && *by == ended;
        found.into_iter().filter(|(_, by)| everywhere(by)).map(|(found, _)| found).collect()
    }

    /// Their ids, as far as they are known.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flatten().copied()
    }

    fn has(&self, process: u64) -> bool {
        self.0.as_ref().is_none_or(|ids| ids.contains(&process))
    }
}

/// Profiles that were begun since `started` by these processes. Of a profile and its snapshots, the profile.
pub fn profiles_since(directory: &Path, started: SystemTime, recorded: &Recorded) -> Vec<PathBuf> {
    // The clocks of two processes may differ by a tick.
    let since =
        started.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(Duration::from_millis(20));
    let mut profiles: HashMap<u64, (Head, PathBuf)> = HashMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        // Nothing else is opened: to open a pipe may take for ever.
        if path.extension() != Some(OsStr::new("iprof"))
            || !entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            continue;
        }
        let Some(head) = head(&path) else { continue };
        let ours = u128::from(head.start_ms) >= since.as_millis() && recorded.has(head.pid);
        let is_later = |(known, _): &(Head, PathBuf)| head.progress > known.progress;
        if ours && profiles.get(&head.nonce).is_none_or(is_later) {
            profiles.insert(head.nonce, (head, path));
        }
    }
    let mut of_process: HashMap<u64, usize> = HashMap::new();
    for (head, _) in profiles.values() {
        *of_process.entry(head.pid).or_default() += 1;
    }
    // Containers that write to one directory may have processes of one id. They have names of their own.
    let host = fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned());
    let is_here = |path: &Path| match (host_of(path), &host) {
        (Some(theirs), Ok(host)) => theirs == *host,
        _ => true,
    };
    let profiles = profiles.into_values();
    profiles.filter(|(head, path)| of_process[&head.pid] < 2 || is_here(path)).map(|(_, path)| path).collect()
}

/// The name of the machine or container that a profile comes from, if it says so.
fn host_of(path: &Path) -> Option<String> {
    let profile = Profile::open(&File::open(path).ok()?).ok()?;
    profile.copies.values().find_map(|copy| copy.properties.get("host")).cloned()
}

fn head(path: &Path) -> Option<Head> {
    Head::read(&File::open(path).ok()?)
}

/// What is said of patterns, each with its option, that no class and no method fitted.
pub fn unmatched(patterns: &[(String, String)], profiles: &[PathBuf]) -> Vec<String> {
    if patterns.is_empty() {
        return Vec::new();
    }
    let files = profiles.iter().filter_map(|path| File::open(path).ok());
    let profiles = files.filter_map(|file| Profile::open(&file).ok());
    let names: Vec<Names> = profiles.map(|profile| Names::new(&profile, 0, false)).collect();
    let known: Vec<&str> = names.iter().flat_map(Names::methods).collect();
    let warning = |(option, pattern): &(String, String)| {
        let option = format!("--{option}");
        nothing_fits(
            Given { name: &option, what: "class that was loaded, and no method of one," },
            pattern,
            &known,
        )
    };
    patterns.iter().map(warning).collect()
}

/// What is said where remote calls of these kinds were to be recorded, and the program made and served none. `only_them`: nothing else was to be
/// recorded.
pub fn made_no_remote_calls(kinds: &[Remote], only_them: bool) -> String {
    let by: Vec<_> = kinds.iter().map(|kind| kind.word().to_uppercase()).collect();
    let words: Vec<_> = kinds.iter().map(|kind| kind.transform().word()).collect();
    let more = match only_them {
        true => format!("; --transform method-events,{} records calls of methods, too", words.join(",")),
        false => String::new(),
    };
    let by = by.join(" or ");
    format!("no remote calls were recorded: the program made none by {by}, and served none{more}")
}

/// The same, if there are none in the profiles.
pub fn no_remote_calls(profiles: &[PathBuf], kinds: &[Remote], only_them: bool) -> Option<String> {
    let files = profiles.iter().filter_map(|path| File::open(path).ok());
    let mut profiles = files.filter_map(|file| Profile::open(&file).ok());
    if profiles.any(|profile| profile.remote_calls.iter().any(|part| part.length > 0)) {
        return None;
    }
    Some(made_no_remote_calls(kinds, only_them))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{process::Command, sync::mpsc, thread};

    #[test]
    fn only_a_profile_of_a_program_that_has_ended_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(Replaced::new(&at("none.iprof")).unwrap().is_none());
        assert!(Replaced::new(folder.path()).unwrap().is_none());
        fs::write(at("notes.txt"), "mine").unwrap();
        let error = Replaced::new(&at("notes.txt")).unwrap_err().to_string();
        assert!(error.contains("no profile"), "{error}");
        assert_eq!(fs::read(at("notes.txt")).unwrap(), b"mine");
        let mut profile = b"\x89IPROF\r\n".to_vec();
        profile.resize(96, 0);
        for name in ["a.iprof", "a.iprof.reset"] {
            fs::write(at(name), &profile).unwrap();
        }
        std::os::unix::fs::symlink(at("a.iprof"), at("link.iprof")).unwrap();
        assert!(Replaced::new(&at("link.iprof")).is_err(), "what a link leads to is not ours to move");
        Replaced::new(&at("a.iprof")).unwrap().unwrap().restore();
        assert_eq!(fs::read(at("a.iprof")).unwrap(), profile);
        Replaced::new(&at("a.iprof")).unwrap().unwrap().remove();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == "notes.txt" || name == "link.iprof"), "{left:?}");
    }

    #[test]
    fn profiles_of_another_container_with_the_same_process_id_are_not_ours() {
        use instrument_trace::{About, Sum, Writer};
        let directory = tempfile::tempdir().unwrap();
        let here = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        let write = |name: &str, nonce: u64, pid: u64, host: &str| {
            let mut writer = Writer::new(std::io::Cursor::new(Vec::new())).unwrap();
            writer.properties(&BTreeMap::from([("host".to_owned(), host.to_owned())])).unwrap();
            writer.sum("main", 1, Sum::Counts(&BTreeMap::new(), &[])).unwrap();
            let about = About { nonce, start_ms: 2_000, dropped: 0, has_ended: true };
            let mut bytes = writer.finish(&about).unwrap().into_inner();
            bytes[24..32].copy_from_slice(&pid.to_le_bytes());
            fs::write(directory.path().join(name), bytes).unwrap();
        };
        write("ours.iprof", 1, 7, &here);
        write("theirs.iprof", 2, 7, "another-container");
        // It is the only one of its process: a host may have got another name meanwhile.
        write("renamed.iprof", 3, 8, "another-container");
        let recorded = Recorded(Some(HashSet::from([7, 8])));
        let mut found = profiles_since(directory.path(), UNIX_EPOCH + Duration::from_secs(2), &recorded);
        found.sort();
        assert_eq!(found, ["ours.iprof", "renamed.iprof"].map(|name| directory.path().join(name)));
    }

    #[test]
    fn only_profiles_of_this_run_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, pid: u64, start: u64| {
            let mut bytes = b"\x89IPROF\r\n".to_vec();
            // As many names, as many profiles.
            bytes.extend([0, u64::from(name.as_bytes()[0]), pid, start].map(u64::to_le_bytes).concat());
            bytes.extend([0; 56]);
            fs::write(directory.path().join(name), bytes).unwrap();
        };
        write("a.iprof", 7, 2_000);
        write("b.iprof", 8, 2_000);
        write("old.iprof", 7, 1_000);
        write("c.txt", 7, 2_000);
        fs::write(directory.path().join("short.iprof"), "x").unwrap();
        // Nobody writes into these: to open one would take for ever.
        let pipes = ["pipe", "x.iprof"].map(|name| directory.path().join(name));
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        std::os::unix::fs::symlink(&pipes[0], directory.path().join("link.iprof")).unwrap();
        let started = UNIX_EPOCH + Duration::from_millis(1_900);
        let since = |pid| {
            let recorded = Recorded::read(Path::new("no such file"), pid);
            let (found, folder) = (mpsc::channel(), directory.path().to_path_buf());
            thread::spawn(move || found.0.send(profiles_since(&folder, started, &recorded)));
            found.1.recv_timeout(Duration::from_secs(60)).expect("a pipe was opened")
        };
        assert_eq!(since(Some(7)), [directory.path().join("a.iprof")]);
        assert_eq!(since(None).len(), 2);
        assert_eq!(directory_of(Some(Path::new("x/y.iprof"))), Path::new("x"));
        assert_eq!(directory_of(Some(Path::new("y.iprof"))), Path::new("."));
        assert_eq!(directory_of(Some(directory.path())), directory.path());
    }

    #[test]
    fn a_snapshot_is_not_taken_for_a_profile() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = |name: &str, words: [u64; 5]| {
            let [nonce, process, end, shutdown, is_snapshot] = words;
            let mut all =
                [u64::from_le_bytes(*b"\x89IPROF\r\n"), 0, nonce, process, 5000, end, 0, 0, 0, 0, 0, 0];
            (all[10], all[11]) = (shutdown, is_snapshot);
            let bytes: Vec<u8> = all.into_iter().flat_map(u64::to_le_bytes).collect();
            fs::write(folder.path().join(name), bytes).unwrap();
        };
        let profile = |name: &str, [nonce, process, end, shutdown]: [u64; 4]| {
            snapshot(name, [nonce, process, end, shutdown, 0]);
        };
        profile("copy.iprof", [1, 7, 8192, 0]);
        profile("p-7.iprof", [1, 7, 8192, 99]);
        profile("p-7-2.iprof", [2, 7, 4096, 0]);
        profile("a-copy.iprof", [3, 8, 4096, 0]);
        profile("p-8.iprof", [3, 8, 8192, 0]);
        // Killed before the file had to grow.
        for (number, name) in [(4, "a"), (5, "z")] {
            snapshot(&format!("{name}-copy.iprof"), [number, 9, 8192, 0, 1]);
            profile(&format!("p-{number}.iprof"), [number, 9, 8192, 0]);
        }
        let names = |pid| {
            let recorded = Recorded::read(Path::new("no such file"), pid);
            let mut names: Vec<_> = profiles_since(folder.path(), UNIX_EPOCH, &recorded)
                .into_iter()
                .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(Some(7)), ["p-7-2.iprof", "p-7.iprof"]);
        // A process that the program started, and one that is none of the run.
        let processes = folder.path().join("processes");
        fs::write(&processes, "8\n7\n").unwrap();
        let recorded = Recorded::read(&processes, Some(7));
        assert_eq!(profiles_since(folder.path(), UNIX_EPOCH, &recorded).len(), 3);
        assert_eq!(names(None), ["p-4.iprof", "p-5.iprof", "p-7-2.iprof", "p-7.iprof", "p-8.iprof"]);
    }

    #[test]
    fn a_pattern_is_named_that_fits_nothing_in_any_process() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let unmatched = |text: &str| {
            fs::write(file.path(), text).unwrap();
            Recorded::unmatched(file.path())
        };
        let both = "7\n8\n7 unmatched include a b.**\n7 unmatched exclude c\n7 ended\n8 unmatched include a b.**\n8 ended\n";
        assert_eq!(unmatched(both), [("include".to_owned(), "a b.**".to_owned())]);
        // The one that was killed may have had such classes.
        assert_eq!(unmatched(&both.replace("8 ended\n", "")), []);
        assert_eq!(unmatched("7\n7 ended\n"), []);
        assert!(Recorded::read(file.path(), None).has(7));
    }
}
