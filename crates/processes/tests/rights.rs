//! Root's rights are not lent to the user of a program that root attaches to, whatever that user does with the folders that the program
//! sees. Only root can try.
#![cfg(target_os = "linux")]

use instrument_processes::hand_over::{Earlier, HandOver};
use instrument_processes::jvm::Process;
use rustix::process::getuid;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NOBODY: u32 = 65534;
/// Puts the system's folders into a new root and runs `sleep` there, as nobody: `$1` is the root, `$2` what is mounted over its `/tmp`.
const PROGRAM: &str = r#"
for name in usr bin lib lib64; do
    if [ -L /$name ]; then cp -P /$name "$1/$name"
    elif [ -d /$name ]; then mkdir -p "$1/$name" && mount --rbind /$name "$1/$name" || exit 1
    fi
done
if [ -n "$2" ]; then mount --bind "$2" "$1/tmp" || exit 1; fi
exec chroot --userspec=65534:65534 "$1" /usr/bin/sleep 300
"#;

/// A program in a root of its own, which that user has made.
struct Contained {
    root: TempDir,
    child: Child,
}

impl Contained {
    /// None: this user or this machine cannot do that.
    fn start(prepare: impl FnOnce(&Path), over_tmp: &Path) -> Option<Contained> {
        if !getuid().is_root() {
            println!("not run: this is for root");
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        prepare(root.path());
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation", "private", "sh", "-c", PROGRAM, "sh"]);
        let mut child = unshare.arg(root.path()).arg(over_tmp).stdin(Stdio::null()).spawn().ok()?;
        let end = Instant::now() + Duration::from_secs(60);
        let has_begun = |pid: u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep")
        };
        while !has_begun(child.id()) {
            if child.try_wait().unwrap().is_some() || Instant::now() > end {
                println!("not run: no file system can be mounted here");
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        Some(Contained { root, child })
    }

    fn process(&self) -> Process {
        Process::of(self.child.id()).unwrap()
    }

    fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Something of root's that nobody else may touch.
struct Secret {
    folder: TempDir,
    file: PathBuf,
}

impl Secret {
    fn new() -> Secret {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        fs::write(&file, "secret").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        Secret { folder, file }
    }

    #[track_caller]
    fn is_as_before(&self) {
        let about = fs::symlink_metadata(&self.file).unwrap();
        assert_eq!((about.uid(), about.gid(), about.mode() & 0o7777), (0, 0, 0o600));
        assert_eq!(fs::read(&self.file).unwrap(), b"secret");
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 1, "nothing is made here");
    }
}

/// A library that the program does not see.
fn library(folder: &Path) -> PathBuf {
    let path = folder.join("library.so");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    path
}

fn open_tmp(root: &Path) {
    fs::create_dir(root.join("tmp")).unwrap();
    fs::set_permissions(root.join("tmp"), Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn a_tmp_that_is_a_link_is_not_followed() {
    let (secret, ours) = (Secret::new(), tempfile::tempdir().unwrap());
    let link = |root: &Path| symlink(secret.folder.path(), root.join("tmp")).unwrap();
    let Some(program) = Contained::start(link, Path::new("")) else { return };
    let process = program.process();
    let seen = library(ours.path());
    for library in [&*seen, Path::new("/usr/bin/sleep")] {
        let error = HandOver::new(&process, library, "out=x").err().expect("there is no /tmp").to_string();
        assert!(error.contains("/tmp"), "{error}");
    }
    assert!(Earlier::move_aside(&process, Path::new("/tmp/secret")).unwrap().is_none());
    secret.is_as_before();
}

#[test]
fn nothing_is_made_where_its_user_could_make_nothing() {
    let (secret, ours) = (Secret::new(), tempfile::tempdir().unwrap());
    fs::set_permissions(secret.folder.path(), Permissions::from_mode(0o755)).unwrap();
    let Some(program) = Contained::start(open_tmp, secret.folder.path()) else { return };
    let process = program.process();
    for library in [&*library(ours.path()), Path::new("/usr/bin/sleep")] {
        assert!(HandOver::new(&process, library, "out=x").is_err());
    }
    assert!(Earlier::move_aside(&process, Path::new("/tmp/secret")).is_err());
    secret.is_as_before();
}

#[test]
fn what_is_made_belongs_to_its_user_and_goes() {
    let ours = tempfile::tempdir().unwrap();
    let Some(program) = Contained::start(open_tmp, Path::new("")) else { return };
    let process = program.process();
    assert_eq!((process.uid, process.has_own_root()), (NOBODY, true));
    drop(HandOver::new(&process, &library(ours.path()), "out=x").unwrap());
    let left: Vec<_> = fs::read_dir(program.tmp()).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let about = left[0].metadata().unwrap();
    assert_eq!((about.uid(), about.mode() & 0o777), (NOBODY, 0o755));
    // The same one is taken again, and no other.
    drop(HandOver::new(&process, &library(ours.path()), "out=x").unwrap());
    fs::write(left[0].path(), "another").unwrap();
    assert!(HandOver::new(&process, &library(ours.path()), "out=x").is_err());
}

#[test]
fn no_race_gives_a_file_of_roots_away() {
    const TRIES: usize = 200;
    let (secret, ours) = (Secret::new(), tempfile::tempdir().unwrap());
    let Some(program) = Contained::start(open_tmp, Path::new("")) else { return };
    let (process, tmp, over, swapped) =
        (program.process(), program.tmp(), AtomicBool::new(false), AtomicUsize::new(0));
    let library = library(ours.path());
    thread::scope(|scope| {
        // As soon as there is a file, a link to root's is in its place.
        scope.spawn(|| {
            while !over.load(SeqCst) {
                for entry in fs::read_dir(&tmp).unwrap().flatten() {
                    if entry.file_type().is_ok_and(|kind| kind.is_file())
                        && fs::remove_file(entry.path()).is_ok()
                        && symlink(&secret.file, entry.path()).is_ok()
                    {
                        swapped.fetch_add(1, SeqCst);
                    }
                }
            }
        });
        for _ in 0..TRIES {
            let _ = HandOver::new(&process, &library, "out=x").map(drop);
            for entry in fs::read_dir(&tmp).unwrap().flatten() {
                let _ = fs::remove_file(entry.path());
            }
        }
        over.store(true, SeqCst);
    });
    secret.is_as_before();
    assert!(swapped.load(SeqCst) > TRIES / 4, "{swapped:?} of {TRIES}");
}
