//! One request over one connection, with a deadline: a program that is stopped (SIGSTOP, a debugger) accepts connections and never answers.

use crate::process_stat::is_stopped;
use anyhow::{Context, Result, anyhow, bail};
use instrument_control::answer::parse_answer;
use instrument_control::ctl::Request;
use instrument_control::peer::Peer;
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
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

/// Sends a request and gives the answer, which must come within `limit`; from a stopped program within 2 s.
///
/// # Errors
/// The refusal of the program; or why there is no answer.
pub(super) fn ask(mut stream: UnixStream, request: &Request, limit: Duration) -> Result<Value> {
    let start = Instant::now();
    let program = Peer::of(&stream).ok().and_then(|peer| peer.pid);
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
    let waited = waited.as_secs().max(1);
    match stopped {
        Some(pid) => anyhow!(
            "does not answer: the process is stopped, by SIGSTOP or by a debugger; `kill -CONT {pid}` lets it run again"
        ),
        None => anyhow!(
            "does not answer within {waited} s: it may be busy with another request, or its machine may be overloaded"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_accepts_and_never_answers_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let error = ask(ours, &Request::Status {}, Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.starts_with("does not answer within 1 s: "), "{error}");
    }
}
