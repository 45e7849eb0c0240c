//! Java virtual machines of this machine, as `/proc` shows them.

use crate::process_stat::ProcessStat;
use anyhow::{Result, anyhow};
use instrument_names::program;
use rustix::process::getuid;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Options of `java` whose value is the next word.
pub const WITH_VALUE: [&str; 18] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "-d",
    "--describe-module",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
    "--enable-native-access",
    "--illegal-native-access",
    "--finalization",
    "--source",
];
/// Variables that the virtual machine and its launcher take options from, in this order.
const OPTIONS: [&str; 2] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"];

/// A process, as it was when it was looked at.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its id here.
    pub pid: u32,
    /// Its id as it sees it itself: in a container it has another one.
    pub inside: u32,
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// The other groups that it is in.
    pub(crate) groups: Vec<u32>,
    words: Vec<String>,
    maps: String,
}

/// What a process is, as far as its mapped files tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A virtual machine of the OpenJDK family.
    HotSpot,
    /// Eclipse OpenJ9, whose attach protocol is another.
    OpenJ9,
    /// No virtual machine; or none that we may look at.
    Other,
}

impl Process {
    /// Looks at a process.
    ///
    /// # Errors
    /// There is none with this id.
    pub fn of(pid: u32) -> Result<Process> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let there = fs::metadata(&folder).map_err(|_| anyhow!("there is no process {pid}"))?;
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        let words = line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        Ok(Process {
            pid,
            inside: numbers(&status, "NSpid:").last().unwrap_or(pid),
            uid: there.uid(),
            gid: there.gid(),
            groups: numbers(&status, "Groups:").collect(),
            words: words.filter(|word| !word.is_empty()).collect(),
            maps: fs::read_to_string(folder.join("maps")).unwrap_or_default(),
        })
    }

    /// Its folder in `/proc`.
    fn folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.pid))
    }

    /// Whether we may do what we like with it: it is our user's, or we are root.
    pub fn is_ours(&self) -> bool {
        let us = getuid();
        us.is_root() || us.as_raw() == self.uid
    }

    /// Whether it is a virtual machine, and of which kind.
    pub fn kind(&self) -> Kind {
        if self.maps.contains("/libj9vm") {
            Kind::OpenJ9
        } else if self.maps.contains("/libjvm.") {
            Kind::HotSpot
        } else {
            Kind::Other
        }
    }

    /// The root of its file system, as a path of ours; `/` where nobody lets us look.
    pub fn root(&self) -> PathBuf {
        let root = self.folder().join("root");
        if fs::metadata(root.join("proc")).is_ok() || fs::read_dir(&root).is_ok() { root } else { "/".into() }
    }

    /// Whether it may see other files than we do under the same names: in a container, or with a `/tmp` of its own.
    pub fn has_own_root(&self) -> bool {
        self.shares("mnt") == Some(false) || identity(&self.root()) != identity(Path::new("/"))
    }

    /// Whether it is in the namespace of this kind that we are in; none: nobody lets us look.
    fn shares(&self, kind: &str) -> Option<bool> {
        let of = |folder: PathBuf| identity(&folder.join("ns").join(kind));
        Some(of(self.folder())? == of(PathBuf::from("/proc/self"))?)
    }

    /// Whether its user namespace has a number for our user. HotSpot and the agent refuse whoever has none: to them it is nobody.
    pub fn knows_us(&self) -> bool {
        // Read from inside, the map leads to the namespace around it.
        if self.shares("user") == Some(true) {
            return true;
        }
        let Ok(map) = fs::read_to_string(self.folder().join("uid_map")) else { return true };
        let us = u64::from(getuid().as_raw());
        map.lines().any(|line| {
            let words: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            matches!(words[..], [_, first, count] if us >= first && us - first < count)
        })
    }

    /// Its working directory, as a path of ours.
    pub fn working_directory(&self) -> PathBuf {
        self.folder().join("cwd")
    }

    /// The main class or the jar, as it was given to `java`; else the name of what was started.
    pub fn program(&self) -> Option<&str> {
        let launcher = Path::new(self.words.first()?).file_name()?.to_str()?;
        if launcher != "java" {
            // A tool of the JDK, or a program that has the virtual machine as a library.
            return Some(launcher);
        }
        let mut words = self.words.iter().skip(1).map(String::as_str);
        while let Some(word) = words.next() {
            if word == "-jar" || word == "-m" || word == "--module" {
                return words.next();
            } else if WITH_VALUE.contains(&word) {
                words.next();
            } else if !word.starts_with(['-', '@']) {
                // `java Shop.java` runs as the source launcher in a module.
                return program::word(word, "");
            }
        }
        None
    }

    /// Whether a word of the user means its program: the jar or the main class, with or without its folder, package or extension.
    fn is_called(&self, name: &str) -> bool {
        let Some(program) = self.program() else { return false };
        let file = program.rsplit('/').next().unwrap_or(program);
        let bare = file.strip_suffix(".jar").or_else(|| file.strip_suffix(".java")).unwrap_or(file);
        let simple = bare.rsplit('.').next().unwrap_or(bare);
        let simple = if bare == file { simple } else { bare };
        [program, file, bare, simple].contains(&name)
    }

    /// Whether the last of its options that name this flag turns it on; none: no option names it.
    pub fn flag(&self, name: &str) -> Option<bool> {
        let environment = fs::read(self.folder().join("environ")).unwrap_or_default();
        let variable = |name: &&str| {
            let mut lines = environment.split(|&byte| byte == 0);
            let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
            value.map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let given: Vec<String> = OPTIONS.iter().filter_map(variable).collect();
        let given = given.iter().flat_map(|value| value.split_whitespace());
        let words = given.chain(self.words.iter().map(String::as_str));
        let of = |word: &str| match word.trim_matches(['"', '\'']).strip_prefix("-XX:")? {
            word if word.strip_prefix('+') == Some(name) => Some(true),
            word if word.strip_prefix('-') == Some(name) => Some(false),
            _ => None,
        };
        words.filter_map(of).next_back()
    }

    /// Whether it catches a signal; none where that is not known.
    pub fn catches(&self, signal: i32) -> Option<bool> {
        let status = fs::read_to_string(self.folder().join("status")).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
        Some(mask >> (signal - 1) & 1 != 0)
    }

    /// Whether it is still there: not gone, and no zombie.
    pub fn is_alive(&self) -> bool {
        ProcessStat::of(self.pid).is_some_and(|stat| !stat.has_ended())
    }
}

/// The numbers of a line of `/proc/PID/status`.
fn numbers<'a>(status: &'a str, key: &str) -> impl Iterator<Item = u32> + 'a {
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.split_whitespace().filter_map(|word| word.parse().ok())
}

/// What tells a file from all others.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

/// The virtual machines that we may look at, by their ids.
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut found: Vec<Process> = pids
        .filter_map(|pid| Process::of(pid).ok())
        .filter(|process| process.is_ours() && process.kind() != Kind::Other)
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// The process that a word of the user means: an id, or the name of its program.
///
/// # Errors
/// There is none, or several have that name.
pub fn find(target: &str) -> Result<Process> {
    if let Ok(pid) = target.parse::<u32>() {
        return Process::of(pid);
    }
    let mut found: Vec<Process> = all().into_iter().filter(|process| process.is_called(target)).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(anyhow!(
            "no Java program of this user is called {target}; `instrument attach` without a name lists all"
        )),
        n => {
            let ids: Vec<String> = found.iter().map(|process| process.pid.to_string()).collect();
            Err(anyhow!("{n} programs are called {target}: {}; give the process id", ids.join(", ")))
        }
    }
}

/// A path of ours as the process sees it, if both mean the same file.
pub fn path_inside(process: &Process, path: &Path) -> Option<PathBuf> {
    let there = process.root().join(path.strip_prefix("/").ok()?);
    (identity(path).is_some() && identity(path) == identity(&there)).then(|| path.to_owned())
}

/// A path as a process sees it as one of ours.
pub fn path_outside(process: &Process, path: &Path) -> PathBuf {
    let is_shared = || path.parent().is_some_and(|folder| path_inside(process, folder).is_some());
    match path.strip_prefix("/") {
        Ok(rest) if process.has_own_root() && !is_shared() => process.root().join(rest),
        _ => path.to_owned(),
    }
}

/// The working directory of a process, as it sees it.
pub fn directory_inside(process: &Process) -> Option<PathBuf> {
    let link = fs::read_link(process.working_directory()).ok()?;
    (!link.as_os_str().as_bytes().ends_with(b" (deleted)") && link != OsStr::new("/")).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(words: &[&str]) -> Process {
        let mut process = Process::of(std::process::id()).unwrap();
        process.words = words.iter().map(|&word| word.to_owned()).collect();
        process
    }

    #[test]
    fn a_program_is_called_after_its_jar_or_main_class() {
        for (words, program, names) in [
            (
                &["java", "-cp", "a:b", "-Xmx1g", "com.acme.Main", "x"][..],
                "com.acme.Main",
                &["Main", "com.acme.Main"][..],
            ),
            (&["java", "-jar", "lib/app-1.2.jar", "-v"], "lib/app-1.2.jar", &["app-1.2", "app-1.2.jar"]),
            (&["java", "--module-path", "m", "-m", "mod/com.acme.Main"], "mod/com.acme.Main", &["Main"]),
            (&["java", "@options", "Shop.java"], "Shop.java", &["Shop", "Shop.java"]),
        ] {
            let process = process(words);
            assert_eq!(process.program(), Some(program));
            for name in names {
                assert!(process.is_called(name), "{words:?} {name}");
            }
            assert!(!process.is_called("com") && !process.is_called("x"), "{words:?}");
        }
        assert_eq!(process(&["java", "-version"]).program(), None);
        assert_eq!(process(&["/jdk/bin/javac", "-d", "out", "A.java"]).program(), Some("javac"));
    }

    #[test]
    fn the_last_option_of_a_flag_counts() {
        let process = process(&["java", "-XX:+A", "-XX:-A", "-XX:+B", "Main", "-XX:-C"]);
        assert_eq!(process.flag("A"), Some(false));
        assert_eq!(process.flag("B"), Some(true));
        assert_eq!(process.flag("AB"), None);
    }

    #[test]
    fn we_are_no_virtual_machine_and_see_our_own_files() {
        let us = Process::of(std::process::id()).unwrap();
        assert!(us.is_ours() && us.is_alive() && !us.has_own_root());
        assert_eq!((us.kind(), us.inside), (Kind::Other, us.pid));
        let program = std::env::current_exe().unwrap();
        assert_eq!(path_inside(&us, &program), Some(program));
        assert_eq!(path_inside(&us, Path::new("/nowhere/at/all")), None);
        assert_eq!(directory_inside(&us), std::env::current_dir().ok());
        assert!(Process::of(u32::MAX).is_err());
    }
}
