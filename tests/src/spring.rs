//! A Spring Boot service (`tests/java/spring`): built once with Maven, started under the binary under test, asked over HTTP, ended.

use crate::shared;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::machine::{Run, cache, root};
use crate::maven;

/// How long start-up, an answer, or the shutdown may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// Requests that are under way at a time.
const CLIENTS: usize = 8;

/// The service as `java -jar` starts it, built if its sources have changed; needs Java 17.
pub fn jar() -> Result<PathBuf> {
    let _lock = shared::lock("spring")?;
    let sources = root().join("tests/java/spring");
    let mut content = Sha256::new();
    let files = WalkDir::new(&sources).sort_by_file_name().into_iter().collect::<Result<Vec<_>, _>>()?;
    for file in files.iter().filter(|file| file.file_type().is_file()) {
        content.update(file.path().strip_prefix(&sources)?.as_os_str().as_encoded_bytes());
        content.update(fs::read(file.path())?);
    }
    let key: String = content.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let cache = cache().join("spring");
    let built = cache.join(key).join("service.jar");
    if built.is_file() {
        return Ok(built);
    }
    fs::create_dir_all(&cache)?;
    let work = tempfile::Builder::new().prefix("build").tempdir_in(&cache)?;
    for file in &files {
        let copy = work.path().join(file.path().strip_prefix(&sources)?);
        if file.file_type().is_dir() {
            fs::create_dir_all(copy)?;
        } else {
            fs::copy(file.path(), copy)?;
        }
    }
    maven::run::<&str>(work.path(), "package", &[])?;
    let folder = built.parent().context("the jar is in a folder")?;
    fs::create_dir_all(folder)?;
    fs::rename(work.path().join("target/service.jar"), &built)?;
    Ok(built)
}

/// What a service said, and how it ended.
pub struct Ended {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; none after a signal.
    pub code: Option<i32>,
    /// From its start to its end.
    pub elapsed: Duration,
}

/// A service that runs.
pub struct Service {
    child: Child,
    port: u16,
    stdout: Receiver<String>,
    stderr: thread::JoinHandle<String>,
    started: Instant,
    said: String,
}

impl Service {
    /// Starts `command` and waits until the service listens.
    ///
    /// # Errors
    /// It ended, or did not listen in time.
    pub fn start(mut command: Command) -> Result<Service> {
        let started = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (out, mut err) = child.stdout.take().zip(child.stderr.take()).context("its output is piped")?;
        let (lines, stdout) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| lines.send(line))
        });
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = err.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut service = Service { child, port: 0, stdout, stderr, started, said: String::new() };
        while let Ok(line) = service.stdout.recv_timeout(PATIENCE) {
            if let Some(port) = line.strip_prefix("listening on ") {
                service.port = port.parse()?;
                return Ok(service);
            }
            service.said += &line;
            service.said.push('\n');
        }
        let ended = service.end()?;
        bail!("{command:?} does not listen: {} {}", ended.stdout, ended.stderr)
    }

    /// Makes so many requests, several at a time: half of them orders, a quarter receipts, a quarter searches.
    ///
    /// # Errors
    /// An answer other than 200, or none in time.
    pub fn request(&self, requests: usize) -> Result<()> {
        let port = self.port;
        thread::scope(|scope| {
            let client =
                move |first| (first..requests).step_by(CLIENTS).try_for_each(|number| request(port, number));
            let clients: Vec<_> = (0..CLIENTS).map(|first| scope.spawn(move || client(first))).collect();
            clients.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
        })
    }

    /// Asks the process to end, as a user or a container does, and waits for it.
    ///
    /// # Errors
    /// It did not end in time.
    pub fn end(mut self) -> Result<Ended> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).capture()?;
        let asked = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if asked.elapsed() > PATIENCE {
                self.child.kill()?;
                bail!("the service did not end");
            }
            thread::sleep(Duration::from_millis(10));
        };
        let elapsed = self.started.elapsed();
        self.stdout.iter().for_each(|line| self.said += &(line + "\n"));
        let stderr = self.stderr.join().expect("a reader of a pipe does not panic");
        Ok(Ended { stdout: self.said, stderr, code: status.code(), elapsed })
    }
}

fn request(port: u16, number: usize) -> Result<()> {
    let customer = number / 4 % 5;
    match number % 4 {
        0 => http(port, "GET", &format!("/items?text={customer}"), ""),
        1 => http(port, "GET", &format!("/customers/c{customer}/receipt"), ""),
        _ => {
            let item = 1 + number % 500;
            let body = format!("{{\"customer\":\"c{customer}\",\"item\":{item},\"pieces\":2}}");
            http(port, "POST", "/orders", &body)
        }
    }
}

fn http(port: u16, method: &str, path: &str, body: &str) -> Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200 "), "{method} {path}: {answer}");
    Ok(())
}

/// Starts the service with `command` and these words behind it, makes `requests`, and ends it.
///
/// # Errors
/// As above.
pub fn drive(mut command: Command, words: &[&str], requests: usize) -> Result<Ended> {
    command.args(words);
    let service = Service::start(command)?;
    service.request(requests)?;
    service.end()
}

/// The profile in a folder.
///
/// # Errors
/// There is none, or several.
pub fn profile(folder: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let found: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "iprof")).collect();
    ensure!(found.len() == 1, "{found:?}");
    Ok(found[0].clone())
}
