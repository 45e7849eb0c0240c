//! Where the socket of a process is: the agent puts `PID.sock` into a directory that is its user's alone.

use super::ask::{self, SOON};
use crate::agent_library;
use crate::attach::unknown_user;
use crate::jvm::Process;
use crate::local_socket::connect_to;
use crate::process_stat::is_stopped;
use crate::rights::{Folder, with_rights_of};
use anyhow::{Context, Result, anyhow};
use instrument_control::ctl::{directory_in, directory_of_user, process_of, socket_name};
use instrument_control::peer::Peer;
use rustix::process::getuid;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// A connection to a process, given by its id or by the path of its socket.
///
/// # Errors
/// There is none, with what it was asked for and the reason.
pub(super) fn connect(target: &str) -> Result<UnixStream> {
    if target.contains('/') {
        return connect_to(target, SOON).with_context(|| target.to_owned());
    }
    let pid: u32 = target.parse().map_err(|_| {
        instrument_messages::usage(format!("{target}: neither a process id nor the path of a socket"))
    })?;
    let process = Process::of(pid)?;
    let uid = process.uid;
    if !process.knows_us() {
        return Err(unknown_user(&process));
    }
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let own = environment.split(|&byte| byte == 0).find_map(|line| line.strip_prefix(b"XDG_RUNTIME_DIR="));
    let own = own.map(|path| directory_in(Path::new(OsStr::from_bytes(path))));
    for directory in own.into_iter().chain(directories(uid)) {
        // In a container it has another number, and other files.
        let Ok(folder) = Folder::of(&process, &directory) else { continue };
        let connected = with_rights_of(&process, || {
            let socket = folder.socket(&socket_name(process.inside))?;
            Ok(socket.map(|(_open, path)| connect_to(path, SOON)))
        });
        match connected {
            Ok(Some(Ok(stream))) if Peer::of(&stream).is_ok_and(|peer| peer.uid == uid) => return Ok(stream),
            Ok(Some(Err(error))) if error.kind() == ErrorKind::TimedOut => {
                return Err(ask::no_answer(Some(pid).filter(|&pid| is_stopped(pid)), SOON));
            }
            _ => {}
        }
    }
    Err(why_not(&process))
}

/// Why nobody answers for a process, and what can be done.
fn why_not(process: &Process) -> anyhow::Error {
    let (pid, uid) = (process.pid, process.uid);
    if !process.is_ours() {
        return anyhow!(
            "process {pid} belongs to another user (uid {uid}): only that user and root may ask it"
        );
    }
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    if maps.contains(agent_library::STEM) {
        return anyhow!(
            "process {pid} runs with the agent but does not answer: its recording was stopped (`instrument attach {pid}` begins another), or it may be starting, or have the option ctl=off, or ctl=PATH; \
             then give the path instead of the process id. Where /tmp is read-only, or another user's, it has no socket: `run --ctl PATH` puts it elsewhere"
        );
    }
    if !maps.contains("/libjvm.") {
        return anyhow!("process {pid} is not a Java virtual machine");
    }
    anyhow!(
        "process {pid} runs without the agent: `instrument attach {pid}` brings it now, or start the program with `instrument run -- java ..`"
    )
}

/// The directories that a user's sockets may be in.
fn directories(uid: u32) -> Vec<PathBuf> {
    vec![directory_in(Path::new(&format!("/run/user/{uid}"))), directory_of_user(uid)]
}

/// The sockets of this user.
pub(super) fn sockets() -> Vec<PathBuf> {
    let uid = getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|path| directory_in(Path::new(&path)));
    let mut all: Vec<PathBuf> = runtime.into_iter().chain(directories(uid)).collect();
    all.dedup();
    let is_ours =
        |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|there| there.is_dir() && there.uid() == uid);
    let mut sockets = Vec::new();
    for directory in all.into_iter().filter(is_ours) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        sockets.extend(entries.filter(|path| process_of(path).is_some()));
    }
    sockets
}

/// A connection to a socket of this user. One that a dead process left is removed.
///
/// # Errors
/// As of [`connect_to`]; [`ErrorKind::PermissionDenied`] if another user answers.
pub(super) fn open(path: &Path) -> io::Result<UnixStream> {
    let stream = connect_to(path, SOON).inspect_err(|error| {
        // A living one listens before it has its name.
        if error.kind() == ErrorKind::ConnectionRefused {
            let _ = fs::remove_file(path);
        }
    })?;
    if Peer::of(&stream)?.uid != getuid().as_raw() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "another user answers"));
    }
    Ok(stream)
}

/// That the process of a socket has not accepted a connection in time.
pub(super) fn no_answer(socket: &Path) -> anyhow::Error {
    ask::no_answer(process_of(socket).filter(|&pid| is_stopped(pid)), SOON)
}
