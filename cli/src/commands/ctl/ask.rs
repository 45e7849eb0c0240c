//! One request over one connection, with a deadline: a program that is stopped (SIGSTOP, a debugger) accepts connections and never answers.

use anyhow::{Context, Result, anyhow, bail};
use instrument_control::ctl::{Request, parse_answer};
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use serde_json::Value;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest time that a program may take to accept a connection and to answer what it knows at once. The agent answers one request after
/// the other, and waits 5 s for one that does not come.
pub(super) const SOON: Duration = Duration::from_secs(8);
/// The longest time that a stopped process is waited for: a debugger may stop it for a moment.
const STOPPED: Duration = Duration::from_secs(2);
/// The longest time for every other answer: long enough for a copy of a large profile. A stopped program is not waited for so long.
pub(super) const LATER: Duration = Duration::from_secs(600);
/// The largest answer that is read, in bytes.
const LARGEST: usize = 1 << 30;

/// Connects to the socket at `path`.
///
/// # Errors
/// As of [`UnixStream::connect`]; [`ErrorKind::TimedOut`] if the listener has not made room for the connection within [`SOON`].
pub(super) fn connect_to(path: impl AsRef<Path>) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(path.as_ref())?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux takes the limit of sending for connecting, too.
    set_socket_timeout(&socket, Timeout::Send, Some(SOON))?;
    connect(&socket, &address).map_err(|error| match io::Error::from(error) {
        error if error.kind() == ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        error => error,
    })?;
    Ok(UnixStream::from(socket))
}

/// Sends a request and gives the answer, which must come within `limit`; from a stopped program within 2 s.
///
/// # Errors
/// The refusal of the program; or why there is no answer.
pub(super) fn ask(mut stream: UnixStream, request: &Request, limit: Duration) -> Result<Value> {
    let start = Instant::now();
    let program = socket_peercred(&stream).ok().map(|peer| peer.pid.as_raw_nonzero().get().unsigned_abs());
    stream.set_write_timeout(Some(SOON))?;
    // Whoever does not read the request may have said why.
    let sent = stream.write_all(format!("{}\n", request.line()?).as_bytes());
    let mut reply = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let stopped = program.is_some_and(is_stopped);
        let waited = start.elapsed();
        let Some(left) =
            (if stopped { STOPPED } else { limit }).checked_sub(waited).filter(|left| !left.is_zero())
        else {
            return Err(no_answer(program.filter(|_| stopped), waited));
        };
        stream.set_read_timeout(Some(left.min(STOPPED)))?;
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => reply.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) if reply.is_empty() => {
                sent?;
                return Err(error).context("no answer");
            }
            Err(_) => break,
        }
        if reply.len() > LARGEST {
            bail!("the answer is longer than {LARGEST} bytes");
        }
    }
    if reply.is_empty() {
        sent?;
        bail!("no answer");
    }
    parse_answer(&reply).map_err(|reason| anyhow!("{reason}"))
}

/// That a program has not answered, why, and what can be done.
pub(super) fn no_answer(stopped: Option<u32>, waited: Duration) -> anyhow::Error {
    let waited = waited.as_secs();
    match stopped {
        Some(pid) => anyhow!(
            "does not answer: the process is stopped, by SIGSTOP or by a debugger; `kill -CONT {pid}` lets it run again"
        ),
        None => anyhow!(
            "does not answer within {waited} s: it may be busy with another request, or its machine may be overloaded"
        ),
    }
}

/// Whether a process of this machine is stopped or traced; `false` where that is not known.
pub(super) fn is_stopped(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name of the program, in brackets, may hold anything.
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| matches!(rest.trim_start().as_bytes().first(), Some(b'T' | b't')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen};

    #[test]
    fn a_listener_with_a_full_queue_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&listener, 0).unwrap();
        let _first = connect_to(&path).unwrap();
        assert_eq!(connect_to(&path).unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn whoever_accepts_and_never_answers_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let error = ask(ours, &Request::Status {}, Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.starts_with("does not answer within 0 s: "), "{error}");
    }
}
