//! The files of another process, touched with no more rights than its user has.
//!
//! Root may attach to everybody's programs, and whoever runs one decides what is in its folders: a link, a mount, a file that is another
//! one a moment later. Rights of root that are used there are lent. So whatever is made, opened or removed there is so
//!
//! - by a thread that has the user and the groups of the process, as far as the file system is concerned ([`with_rights_of`]);
//! - in a folder that was opened once, without following links if the process sees another file system than we do ([`Folder`]).

use crate::jvm::Process;
use anyhow::{Context, Result, bail};
use nix::unistd::{Gid, Uid, setfsgid, setfsuid};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat, openat2};
use rustix::io::Errno;
use rustix::process::getuid;
use rustix::thread::set_thread_groups;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;

/// Does something with the rights that the user of the process has on files. Folders that only we can reach have to be open by then.
///
/// # Errors
/// The rights cannot be changed; as of `act`.
pub fn with_rights_of<T: Send>(process: &Process, act: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if !is_lent(process) {
        return act();
    }
    // The system keeps rights for each thread: this one ends before anything else is done with its rights.
    let as_its_user = || {
        take_rights_of(process).with_context(|| format!("the rights of uid {}", process.uid))?;
        act()
    };
    thread::scope(|scope| scope.spawn(as_its_user).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Whether we are root, and its user is not.
fn is_lent(process: &Process) -> bool {
    getuid().is_root() && process.uid != 0
}

fn take_rights_of(process: &Process) -> Result<()> {
    let groups: Vec<_> = process.groups.iter().map(|&group| rustix::process::Gid::from_raw(group)).collect();
    set_thread_groups(&groups)?;
    let (uid, gid) = (Uid::from_raw(process.uid), Gid::from_raw(process.gid));
    setfsgid(gid);
    setfsuid(uid);
    // Each gives back what was before.
    if setfsgid(gid) != gid || setfsuid(uid) != uid {
        bail!("the system does not give them");
    }
    Ok(())
}

/// A folder of a process, which stays the same one whatever becomes of its name.
#[derive(Debug)]
pub struct Folder {
    open: OwnedFd,
    /// As the process sees it.
    inside: PathBuf,
}

impl Folder {
    /// Opens a folder, given by its path as the process sees it.
    ///
    /// # Errors
    /// It is not there, or its path goes through a link in the file system of a container; the system is too old to keep us in there.
    pub fn of(process: &Process, inside: &Path) -> Result<Folder> {
        let path = || format!("{} as process {} sees it", inside.display(), process.pid);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(process.root(), flags, Mode::empty()).with_context(path)?;
        let is_own = process.has_own_root();
        let folder = || {
            let opened = if is_own {
                let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
                openat2(&root, inside, flags, Mode::empty(), resolve)
            } else {
                openat(&root, inside, flags, Mode::empty())
            };
            match opened {
                Ok(folder) => Ok(folder),
                Err(Errno::LOOP) if is_own => {
                    bail!("a link, which is not followed in the file system of another process")
                }
                Err(Errno::NOSYS) => bail!("this needs Linux 5.6 or later (openat2)"),
                Err(error) => Err(error.into()),
            }
        };
        let folder = with_rights_of(process, folder).with_context(path)?;
        Ok(Folder { open: folder, inside: inside.to_owned() })
    }

    /// The working directory of a process; none: it is `/`, or was removed.
    ///
    /// # Errors
    /// Nobody lets us look.
    pub fn working_directory(process: &Process) -> Result<Option<Folder>> {
        let Some(inside) = crate::jvm::directory_inside(process) else { return Ok(None) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder =
            open(process.working_directory(), flags, Mode::empty()).context("its working directory")?;
        Ok(Some(Folder { open: folder, inside }))
    }

    /// As the process sees it.
    pub fn inside(&self) -> &Path {
        &self.inside
    }

    /// What has this name in it, as a path of ours that leads through no other name.
    pub fn path(&self, name: &str) -> PathBuf {
        by_descriptor(&self.open).join(name)
    }

    /// A socket in it, as a path that leads to this socket and nothing else; none: there is none of that name.
    ///
    /// # Errors
    /// Something else has that name.
    pub(crate) fn socket(&self, name: &str) -> Result<Option<(OwnedFd, PathBuf)>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let socket = match openat(&self.open, name, flags, Mode::empty()) {
            Ok(socket) => socket,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error).with_context(|| self.inside.join(name).display().to_string()),
        };
        if FileType::from_raw_mode(fstat(&socket)?.st_mode) != FileType::Socket {
            bail!("{}: something that is not a socket is there", self.inside.join(name).display());
        }
        let path = by_descriptor(&socket);
        Ok(Some((socket, path)))
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.open.as_fd()
    }
}

fn by_descriptor(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
