//! HotSpot's attach protocol, from outside: loads an agent library into a virtual machine that runs. No JDK is needed.
//!
//! 1. The virtual machine listens on `/tmp/.java_pidN`, N being its process id as it sees it. If it does not listen yet, a file
//!    `.attach_pidN` in its working directory (or `/tmp`) and SIGQUIT make it begin. A process that does not catch SIGQUIT dies of it, so
//!    that is looked at first.
//! 2. A request is texts that end with a zero byte: the version, the command, three arguments. The answer is a line with a status, then
//!    text. Version 2 (JDK 24 and later), with the length of the rest behind the version, is used where version 1 is refused.
//!
//! Sources: `attachListener_linux.cpp`, `attachListener.cpp`, `VirtualMachineImpl.java` of OpenJDK 11 to 25.

use crate::jvm::{Kind, Process};
use crate::local_socket::connect_to;
use crate::process_stat::is_stopped;
use crate::rights::{Folder, with_rights_of};
use anyhow::{Context, Result, anyhow, bail};
use instrument_control::peer::Peer;
use rustix::fs::{AtFlags, Mode, OFlags, StatVfsMountFlags, fstatvfs, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time that a stopped process is waited for: a debugger may stop it for a moment.
const STOPPED: Duration = Duration::from_secs(2);
/// The longest time that a virtual machine may take to begin to listen, and one that starts to catch SIGQUIT.
const TO_LISTEN: Duration = Duration::from_secs(20);
/// How long somebody else who attaches at the same time is waited for; behind that his file was left.
const OTHERS: Duration = Duration::from_secs(2);
/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(20);
const SIGQUIT: i32 = 3;
/// The status of a request whose version the virtual machine does not know.
const BAD_VERSION: &str = "101";
/// Bytes of the longest argument in version 1.
pub const LONGEST_ARGUMENT: usize = 1024;

/// Has the process load the library, given by its path there, and call its `Agent_OnAttach` with these options. Its return code.
///
/// # Errors
/// Why that was not possible, and what can be done.
pub fn load(process: &Process, library: &str, options: &str, limit: Duration) -> Result<i32> {
    check(process)?;
    let end = Instant::now() + limit;
    let arguments = ["load", library, "true", options];
    let mut reply = request(process, &request_v1(&arguments), end)?;
    if reply.lines().next() == Some(BAD_VERSION) {
        reply = request(process, &request_v2(&arguments), end)?;
    }
    read_reply(process, &reply)
}

/// What can be known, and refused, without touching the process.
fn check(process: &Process) -> Result<()> {
    let pid = process.pid;
    if !process.is_ours() {
        bail!(
            "process {pid} belongs to another user (uid {}): only that user and root may attach to it; try `sudo -u '#{}' instrument attach {pid} ..`",
            process.uid,
            process.uid
        );
    }
    if !process.knows_us() {
        return Err(unknown_user(process));
    }
    match process.kind() {
        Kind::HotSpot => {}
        Kind::OpenJ9 => bail!(
            "process {pid} is an Eclipse OpenJ9 virtual machine, which has an attach protocol of its own: start the program with `instrument run -- java ..`"
        ),
        Kind::Other => bail!("process {pid} is not a Java virtual machine"),
    }
    if process.flag("DisableAttachMechanism") == Some(true) {
        bail!(
            "process {pid} was started with -XX:+DisableAttachMechanism: start it without this option, or with `instrument run -- java ..`"
        );
    }
    if process.flag("EnableDynamicAgentLoading") == Some(false) {
        return Err(no_dynamic_loading(pid));
    }
    Ok(())
}

/// That a process cannot be asked from outside of its user namespace, and what can be done.
pub(crate) fn unknown_user(process: &Process) -> anyhow::Error {
    anyhow!(
        "process {0} is in a user namespace that does not know uid {1}, and takes it for nobody: do this as its own user, \
         `sudo -u '#{2}' instrument attach {0} ..`, or from inside of the container",
        process.pid,
        rustix::process::getuid().as_raw(),
        process.uid
    )
}

fn no_dynamic_loading(pid: u32) -> anyhow::Error {
    anyhow!(
        "process {pid} was started with -XX:-EnableDynamicAgentLoading: start it with -XX:+EnableDynamicAgentLoading, or with `instrument run -- java ..`"
    )
}

// ---- the socket ----

/// Sends a request, and reads the whole answer.
fn request(process: &Process, bytes: &[u8], end: Instant) -> Result<String> {
    let mut stream = connect(process, end)?;
    stream.set_write_timeout(Some(STOPPED))?;
    stream.write_all(bytes).map_err(|error| broken(process, &error))?;
    let mut reply = Vec::new();
    let mut buffer = [0; 4096];
    let start = Instant::now();
    loop {
        stream.set_read_timeout(Some(PAUSE * 5))?;
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => reply.extend_from_slice(&buffer[..count]),
            Err(error) if is_time(&error) => wait_on(process, start, end)?,
            Err(error) => return Err(broken(process, &error)),
        }
    }
    if reply.is_empty() {
        bail!("process {} ended while it loaded the agent, or closed the connection", process.pid);
    }
    Ok(String::from_utf8_lossy(&reply).into_owned())
}

fn is_time(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn broken(process: &Process, error: &io::Error) -> anyhow::Error {
    match process.is_alive() {
        true => anyhow!("process {}: the connection failed: {error}", process.pid),
        false => anyhow!("process {} has ended", process.pid),
    }
}

/// Whether it is worth to wait on.
fn wait_on(process: &Process, start: Instant, end: Instant) -> Result<()> {
    let pid = process.pid;
    if !process.is_alive() {
        bail!("process {pid} has ended");
    }
    if is_stopped(pid) && start.elapsed() > STOPPED {
        bail!("process {pid} is stopped, by SIGSTOP or by a debugger; `kill -CONT {pid}` lets it run again");
    }
    if Instant::now() > end {
        bail!(
            "process {pid} does not answer within {} s: it may be paused (a long garbage collection, an overloaded machine); \
             `jcmd {pid} VM.version` shows whether it answers anybody, and --timeout waits longer; what it begins after all is taken back",
            start.elapsed().as_secs().max(1)
        );
    }
    Ok(())
}

/// A connection to the virtual machine, which begins to listen if it does not.
fn connect(process: &Process, end: Instant) -> Result<UnixStream> {
    // HotSpot knows no other place.
    let folder = Folder::of(process, Path::new("/tmp"))?;
    if let Some(stream) = try_connect(process, &folder)? {
        return Ok(stream);
    }
    if fstatvfs(&folder).is_ok_and(|of| of.f_flag.contains(StatVfsMountFlags::RDONLY)) {
        bail!(
            "process {}: its /tmp is read-only, and the virtual machine listens for who attaches there and nowhere else: give it a /tmp that it \
             can write to (`docker run --tmpfs /tmp`, an emptyDir), or start the program with `instrument run -- java ..`",
            process.pid
        );
    }
    let start = Instant::now();
    let end = end.min(start + TO_LISTEN);
    // A signal that it gets when nobody waits any more would print a thread dump.
    while is_stopped(process.pid) {
        wait_on(process, start, end)?;
        sleep(PAUSE);
    }
    // One that has just been started catches no signal yet.
    while process.catches(SIGQUIT) == Some(false) {
        if start.elapsed() > STOPPED {
            bail!(
                "process {} does not catch SIGQUIT, which would end it: it is still starting, or something in it has taken the signal; \
                 try again, or start it with -XX:+StartAttachListener or `instrument run -- java ..`",
                process.pid
            );
        }
        wait_on(process, start, end)?;
        sleep(PAUSE);
    }
    let mut wish = Wish::new(process)?;
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw).context("no process id")?;
    let (made, mut is_signalled) = (Instant::now(), false);
    loop {
        // Also before the signal: to a virtual machine that listens, for somebody else, it is the request of a thread dump.
        if let Some(stream) = try_connect(process, &folder)? {
            return Ok(stream);
        }
        wish.is_ours |= made.elapsed() > OTHERS;
        if wish.is_ours && !is_signalled {
            kill_process(pid, Signal::QUIT).map_err(|error| broken(process, &error.into()))?;
            is_signalled = true;
        }
        wait_on(process, start, end)?;
        sleep(PAUSE);
    }
}

/// None: nobody listens there, or what is there was left by a dead process.
fn try_connect(process: &Process, folder: &Folder) -> Result<Option<UnixStream>> {
    let name = format!(".java_pid{}", process.inside);
    let shown = folder.inside().join(&name);
    let connected = with_rights_of(process, || {
        let socket = folder.socket(&name)?;
        Ok(socket.map(|(_open, path)| connect_to(path, STOPPED)))
    });
    let Some(connected) = connected? else { return Ok(None) };
    match connected {
        Ok(stream) => {
            let peer = Peer::of(&stream)?.uid;
            if peer != process.uid && peer != 0 {
                bail!("{}: another user (uid {peer}) answers there", shown.display());
            }
            Ok(Some(stream))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => Ok(None),
        Err(error) if is_time(&error) => {
            // Its queue is full; nobody takes anything out of it.
            wait_on(process, Instant::now(), Instant::now())?;
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| shown.display().to_string()),
    }
}

/// The file that tells the virtual machine what SIGQUIT means; it is removed when this is dropped. By its folder: the process, and with it
/// the path, may be gone by then.
struct Wish<'a> {
    process: &'a Process,
    folder: Folder,
    name: String,
    /// Nobody else had made it, who sends the signal then.
    is_ours: bool,
}

impl<'a> Wish<'a> {
    fn new(process: &'a Process) -> Result<Wish<'a>> {
        let name = format!(".attach_pid{}", process.inside);
        let places = [Folder::working_directory(process), Folder::of(process, Path::new("/tmp")).map(Some)];
        let mut reasons = Vec::new();
        for folder in places {
            let made = folder.and_then(|folder| {
                let Some(folder) = folder else { return Ok(None) };
                // The virtual machine takes no file of another user.
                let is_ours = with_rights_of(process, || Wish::make(&folder, &name))?;
                Ok(Some((folder, is_ours)))
            });
            match made {
                Ok(Some((folder, is_ours))) => return Ok(Wish { process, folder, name, is_ours }),
                Ok(None) => {}
                Err(error) => reasons.push(format!("{error:#}")),
            }
        }
        bail!(
            "process {}: no file can be made in its working directory or in /tmp: {}",
            process.pid,
            reasons.join("; ")
        )
    }

    /// False: it was there.
    fn make(folder: &Folder, name: &str) -> Result<bool> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        match openat(folder, name, flags, Mode::from_raw_mode(0o660)) {
            Ok(_) => Ok(true),
            // Somebody else is about to attach, or was.
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error).with_context(|| folder.inside().display().to_string()),
        }
    }
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        if !self.is_ours {
            return;
        }
        let _ = with_rights_of(self.process, || Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?));
    }
}

// ---- the texts ----

fn texts(texts: &[&str]) -> Vec<u8> {
    texts.iter().flat_map(|text| text.bytes().chain([0])).collect()
}

fn request_v1(arguments: &[&str]) -> Vec<u8> {
    [texts(&["1"]), texts(arguments)].concat()
}

fn request_v2(arguments: &[&str]) -> Vec<u8> {
    let rest = texts(arguments);
    [texts(&["2", &rest.len().to_string()]), rest].concat()
}

/// The return code of the agent.
fn read_reply(process: &Process, reply: &str) -> Result<i32> {
    let pid = process.pid;
    let (status, text) = reply.split_once('\n').unwrap_or((reply, ""));
    if text.contains("EnableDynamicAgentLoading") || text.contains("Dynamic agent loading is not enabled") {
        return Err(no_dynamic_loading(pid));
    }
    let code = text.lines().find_map(|line| line.strip_prefix("return code: "));
    // Up to Java 8 it was a line of its own.
    let code = code.or_else(|| text.lines().next()).and_then(|code| code.trim().parse().ok());
    match (status.trim(), code) {
        ("0", Some(code)) => Ok(code),
        _ => bail!("process {pid} refuses to load the agent: {}", [status, text].join(" ").trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us() -> Process {
        Process::of(std::process::id()).unwrap()
    }

    #[test]
    fn requests_are_texts_with_zeros() {
        let arguments = ["load", "/a.so", "true", "x=1"];
        assert_eq!(request_v1(&arguments), b"1\0load\0/a.so\0true\0x=1\0");
        assert_eq!(request_v2(&arguments), b"2\x0020\0load\0/a.so\0true\0x=1\0");
    }

    #[test]
    fn replies_are_understood() {
        let read = |reply: &str| read_reply(&us(), reply).map_err(|error| error.to_string());
        assert_eq!(read("0\nreturn code: 0\n"), Ok(0));
        assert_eq!(read("0\nreturn code: -4\n"), Ok(-4));
        assert_eq!(read("0\n0\n"), Ok(0));
        let reason = read("0\n/x.so was not loaded.\n/x.so: cannot open shared object file\n").unwrap_err();
        assert!(reason.contains("refuses to load the agent") && reason.contains("cannot open"), "{reason}");
        let reason = read("100\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n");
        assert!(reason.unwrap_err().contains("start it with -XX:+EnableDynamicAgentLoading"));
        assert!(read("").is_err());
    }

    #[test]
    fn what_is_no_virtual_machine_is_not_signalled() {
        let error = load(&us(), "/x.so", "", Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("is not a Java virtual machine"), "{error}");
    }
}
