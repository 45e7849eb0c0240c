//! The thread that answers: one connection after the other, one request each. Whoever is slow, or sends too much, is left alone.

use super::methods::Methods;
use super::place::Place;
use crate::jvmti::{Jni, Jvmti};
use crate::recording::agent::AGENT;
use crate::recording::agent::Agent;
use crate::talk::contained;
use instrument_control::answer::{Answer, answer_line};
use instrument_control::ctl::{MAX_REQUEST, REQUEST_TIMEOUT, Request};
use instrument_control::peer::Peer;
use rustix::net::{Shutdown, shutdown};
use rustix::process::getuid;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Time that a client may take to read the answer.
const TO_WRITE: Duration = Duration::from_secs(20);
/// Time that the end of the process waits for an answer.
const AT_END: Duration = Duration::from_secs(2);

/// A request that is being answered, within one frame of local references.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(super) jvmti: Jvmti<'a>,
    pub(super) jni: Jni<'a>,
    /// The recording that goes on; none: the program is armed, and nothing is recorded.
    pub(super) agent: Option<&'a Agent>,
    pub(super) methods: &'a Methods,
}

/// What answers a request: it knows recordings, and they know whoever serves.
pub(crate) type Answering = fn(Asked<'_>, Request) -> Result<Answer, String>;

/// What lasts as long as a recording, or as long as the program.
pub(super) struct Server {
    place: Place,
    methods: &'static Methods,
    answering: Answering,
    /// Recordings come and go meanwhile.
    is_for_good: bool,
    /// The address of the recording that the thread which answers is left out of; 0: of none.
    left_out_of: AtomicUsize,
    /// A request is being answered.
    busy: AtomicBool,
    stopped: AtomicBool,
}

impl Server {
    pub(super) fn new(
        place: Place,
        methods: &'static Methods,
        answering: Answering,
        is_for_good: bool,
    ) -> Server {
        Server {
            place,
            methods,
            answering,
            is_for_good,
            left_out_of: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    /// Answers until it is stopped.
    pub(super) fn serve(&self, jvmti: Jvmti<'_>, jni: Jni<'_>) {
        if !self.is_for_good {
            jni.call(&self.methods.began, &[]);
        }
        while !self.stopped.load(SeqCst) {
            match self.place.listener.accept() {
                Ok((stream, _)) => {
                    contained("a request", || self.connection(stream, jvmti, jni));
                    self.busy.store(false, SeqCst);
                }
                Err(_) if self.stopped.load(SeqCst) => break,
                // No more files may be open, for example: that may change.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// See [`super::stop`].
    pub(super) fn stop(&self) {
        self.stopped.store(true, SeqCst);
        self.place.remove();
        // A thread that still waits for requests makes the end of the virtual machine wait for it: 300 ms in HotSpot.
        let _ = shutdown(&self.place.listener, Shutdown::Both);
        let end = Instant::now() + AT_END;
        while self.busy.load(SeqCst) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn connection(&self, mut stream: UnixStream, jvmti: Jvmti<'_>, jni: Jni<'_>) {
        let answer = match peer(&stream).and_then(|()| line(&mut stream)) {
            Ok(line) => self.answer(&line, jvmti, jni),
            Err(reason) => Err(reason),
        };
        // If it does not want it, there is nothing to do.
        let _ = write(&mut stream, format!("{}\n", answer_line(answer)).as_bytes());
    }

    fn answer(&self, line: &[u8], jvmti: Jvmti<'_>, jni: Jni<'_>) -> Result<Answer, String> {
        let request = Request::parse(line)?;
        self.busy.store(true, SeqCst);
        // Behind the store: who stops either sees it or is seen.
        if self.stopped.load(SeqCst) {
            return Err("the program ends".to_owned());
        }
        let agent = AGENT.get();
        if agent.is_none() && !self.is_for_good {
            return Err("nothing is recorded".to_owned());
        }
        self.leave_out(agent, jni);
        let ends = request == Request::Stop {};
        let begins = matches!(request, Request::Start { .. });
        let asked = |jni| Asked { jvmti, jni, agent, methods: self.methods };
        let answer = jni.in_frame(|| (self.answering)(asked(jni), request)).ok_or("no memory")?;
        if begins && answer.is_ok() {
            self.left_out_of.store(AGENT.get().map_or(0, address), SeqCst);
        }
        if ends && answer.is_ok() {
            // Before the answer is sent: whoever reads it may begin another recording.
            if self.is_for_good {
                super::stop_server(&super::OF_RECORDING);
            } else {
                self.stopped.store(true, SeqCst);
                self.place.remove();
            }
        }
        answer
    }

    /// A recording may have begun since the last request: what this thread does is not the program's.
    fn leave_out(&self, agent: Option<&Agent>, jni: Jni<'_>) {
        let Some(address) = agent.map(address) else { return };
        if self.is_for_good && self.left_out_of.swap(address, SeqCst) != address {
            jni.call(&self.methods.began, &[]);
        }
    }
}

/// Recordings are told apart by it: none is ever freed.
fn address(agent: &Agent) -> usize {
    std::ptr::from_ref(agent).addr()
}

/// Only the user of this process, and root, may ask.
fn peer(stream: &UnixStream) -> Result<(), String> {
    let peer = Peer::of(stream).map_err(|error| format!("who asks is not known: {error}"))?;
    if peer.uid == getuid().as_raw() || peer.uid == 0 {
        Ok(())
    } else {
        Err("this program belongs to another user".to_owned())
    }
}

/// The first line that comes.
fn line(stream: &mut UnixStream) -> Result<Vec<u8>, String> {
    let end = Instant::now() + REQUEST_TIMEOUT;
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("the request did not come in time".to_owned());
        }
        let read = stream.set_read_timeout(Some(left)).and_then(|()| stream.read(&mut buffer));
        match read {
            Ok(0) => return if line.is_empty() { Err("no request".to_owned()) } else { Ok(line) },
            Ok(n) => {
                let newline = buffer[..n].iter().position(|&byte| byte == b'\n');
                line.extend_from_slice(&buffer[..newline.unwrap_or(n)]);
                if line.len() > MAX_REQUEST {
                    return Err(format!("a request has at most {MAX_REQUEST} bytes"));
                }
                if newline.is_some() {
                    return Ok(line);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn write(stream: &mut UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    let end = Instant::now() + TO_WRITE;
    while !bytes.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_itself_or_with_its_writer() {
        let read = |bytes: &[u8]| {
            let (mut ours, mut theirs) = UnixStream::pair().unwrap();
            let bytes = bytes.to_vec();
            // A socket holds less than the longest request; whoever is refused is not read to the end.
            let writer = std::thread::spawn(move || theirs.write_all(&bytes));
            let line = line(&mut ours);
            drop(ours);
            let _ = writer.join().unwrap();
            line
        };
        assert_eq!(read(b"{}\nmore").unwrap(), b"{}");
        assert_eq!(read(b"{}").unwrap(), b"{}");
        assert_eq!(read(b"").unwrap_err(), "no request");
        assert!(read(&vec![b'x'; MAX_REQUEST + 1]).unwrap_err().contains("at most 1048576 bytes"));
    }

    #[test]
    fn we_may_ask_ourselves() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        peer(&ours).unwrap();
    }
}
