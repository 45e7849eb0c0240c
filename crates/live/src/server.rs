//! The server: one page on the loopback address, for whoever knows its address.
//!
//! A page of a stranger in the same browser can send requests to any port of this machine, and with a name of its own that resolves to the
//! loopback address (DNS rebinding) it could even read the answer. So the path has a secret word, the `Host` has to be a loopback name or
//! address (of any port: a tunnel has its own), and a request that says that another origin made it is refused.

use crate::connections;
use crate::moments::Moments;
use crate::page::{self, Served};
use anyhow::{Context, Result, anyhow};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use instrument_analysis::page::Sections;
use instrument_analysis::session::{self, Session};
use instrument_analysis::timeline::{Question, Room, Timeline};
use instrument_artifacts::dump;
use instrument_messages::Listener;
use percent_encoding::percent_decode_str;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// Bytes of the code of a method that a page gets at most.
const LONGEST: usize = 1 << 20;
/// Bytes of a profile that is dropped on the page: what is sent is held in memory.
const LARGEST: usize = 256 << 20;
/// Bytes of the secret word.
const SECRET: usize = 16;

/// Reads the files of a request, with an index of traces.
pub type Read = Box<dyn Fn(&session::Request) -> Result<Session> + Send + Sync>;

pub struct Server {
    /// Which profiles, and what of them.
    pub request: session::Request,
    /// How they are read.
    pub read: Read,
    /// Contexts that the page shows at most.
    pub contexts: usize,
    /// Where the bytecode of methods is.
    pub class_path: Option<OsString>,
    /// 0: any that is free.
    pub port: u16,
}

struct Page {
    server: Server,
    listener: Arc<dyn Listener + Send + Sync>,
    path: String,
    made: Mutex<Made>,
    moments: Mutex<Moments>,
}

/// A page, and of what it was made.
struct Made {
    /// The moment from which on it shows what happened; none: from the start.
    since: Option<u32>,
    stamps: Vec<Stamp>,
    text: String,
    /// A profile grows in place while its program runs: neither its length nor its time tells.
    is_live: bool,
    /// What the page asks for more of.
    session: Session,
    timeline: Timeline,
}

impl Made {
    /// Of the files as they are now, the copies of a moment taken away.
    ///
    /// # Errors
    /// A file that cannot be read, or nothing to show.
    fn new(server: &Server, since: Option<(u32, Vec<PathBuf>)>, listener: &dyn Listener) -> Result<Made> {
        let mut request = server.request.clone();
        let since = since.map(|(number, copies)| {
            request.since = copies;
            number
        });
        // First: what changes while it is read is read again.
        let stamps = stamps(&request.files);
        let session = (server.read)(&request)?;
        let is_live = session.profiles.iter().any(|profile| profile.is_live);
        let timeline = Timeline::of_session(&session, &request)?;
        let sections = Sections::of_session(&session, &request, &timeline, Room::SERVED)?;
        let served = Served::Yes { has_code: server.class_path.is_some() };
        let text = page::of_session(&session, &sections, &request, server.contexts, served, listener)?;
        Ok(Made { since, stamps, text, is_live, session, timeline })
    }
}

/// Tells whether a file was replaced.
type Stamp = Option<(u64, SystemTime)>;

/// Serves the page until the process is interrupted. `announce` is told its address.
///
/// # Errors
/// A file that cannot be read, or nothing to show; the port cannot be had; the address cannot be printed.
pub fn serve(
    server: Server,
    listener: Arc<dyn Listener + Send + Sync>,
    announce: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let made = Made::new(&server, None, &*listener)?;
    for warning in &made.session.warnings {
        listener.warn(format_args!("{warning}"));
    }
    let mut secret = [0; SECRET];
    getrandom::fill(&mut secret).map_err(|error| anyhow!("no random numbers: {error}"))?;
    let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port));
        let socket = tokio::net::TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}: --port 0 takes a free port"))?;
        let host = socket.local_addr()?.to_string();
        let path = format!("/{secret}/");
        announce(&format!("http://{host}{path}"))?;
        let (made, moments) = (Mutex::new(made), Mutex::default());
        let page = Page { server, listener, path, made, moments };
        let router = Router::new().fallback(answer).with_state(Arc::new(page));
        tokio::spawn(connections::serve(socket, router, connections::MOST, connections::TO_ASK));
        ended().await;
        Ok(())
    })
}

/// Waits for a signal that ends the server, so that it leaves no files: Ctrl-C, and on Unix that the terminal or the connection is gone.
async fn ended() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::terminate()];
        let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        // A signal without a handler ends the process as usual.
        std::future::poll_fn(|context| {
            let any = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if any { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn answer(State(page): State<Arc<Page>>, request: Request) -> Response {
    if let Err(refusal) = admitted(&page.path, &request) {
        return refusal.into_response();
    }
    if request.method() == Method::POST {
        return opened(page, request).await;
    }
    let asks = Asks::parse(request.uri().query().unwrap_or_default());
    let is_page = matches!(asks, Some(Asks::Page(_)));
    let text = tokio::task::spawn_blocking(move || match asks {
        None => Ok(None),
        Some(Asks::Page(since)) => page.now(since),
        Some(Asks::Moment) => page.moment(),
        Some(Asks::Timeline(since, question)) => page.timeline(since, &question),
        Some(Asks::Code(name)) => page.code(&name),
    });
    match text.await {
        Ok(Ok(Some(text))) => (headers(is_page), text).into_response(),
        Ok(Ok(None)) => (
            StatusCode::BAD_REQUEST,
            "no page asks this, or the moment is not kept any more: open the address without ?since\n",
        )
            .into_response(),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}\n")).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The page of a profile that was dropped on this one. The answer has all of it: nobody asks more of it later.
async fn opened(page: Arc<Page>, request: Request) -> Response {
    let name = request.uri().query().and_then(|query| query.strip_prefix("open=")).and_then(file_name);
    let Some(name) = name else {
        return (StatusCode::BAD_REQUEST, "a file is sent as open=NAME\n").into_response();
    };
    let Ok(body) = axum::body::to_bytes(request.into_body(), LARGEST).await else {
        let text = "it is larger than 256 MiB, or was not sent to its end; instrument view FILE shows it\n";
        return (StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
    };
    match tokio::task::spawn_blocking(move || page.opened(&name, &body)).await {
        Ok(Ok(text)) => (headers(true), text).into_response(),
        Ok(Err(error)) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error:#}\n")).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The name of a file, and no path.
fn file_name(text: &str) -> Option<String> {
    let name = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    let is_name = !name.is_empty() && name.len() < 200 && !name.starts_with('.');
    (is_name && !name.contains(['/', '\\', '\0'])).then_some(name)
}

/// Whether a request comes from somebody who knows the address.
fn admitted(path: &str, request: &Request) -> Result<(), (StatusCode, &'static str)> {
    let text = |name| request.headers().get(name).map(HeaderValue::as_bytes);
    let host =
        text(header::HOST).and_then(|host| std::str::from_utf8(host).ok()).filter(|host| is_loopback(host));
    let Some(host) = host else {
        return Err((
            StatusCode::MISDIRECTED_REQUEST,
            "the name of the host is not one of this machine's own\n",
        ));
    };
    let origin = format!("http://{host}");
    if text(header::ORIGIN).is_some_and(|given| given != origin.as_bytes()) {
        return Err((StatusCode::FORBIDDEN, "requests of other pages are refused\n"));
    }
    if request.uri().path() != path {
        return Err((StatusCode::NOT_FOUND, "there is nothing here: the address has a secret word\n"));
    }
    // Who sends something has to say where from, as browsers do.
    let has_origin = request.headers().contains_key(header::ORIGIN);
    let is_known = match *request.method() {
        Method::GET | Method::HEAD => true,
        Method::POST => has_origin,
        _ => false,
    };
    if !is_known {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here\n"));
    }
    Ok(())
}

/// Whether a `Host` names this machine by itself, whatever the port: a tunnel has another one. A name that only resolves to the loopback
/// address may be a stranger's.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn headers(is_page: bool) -> HeaderMap {
    let fields = [
        (header::CONTENT_TYPE, if is_page { "text/html; charset=utf-8" } else { "application/json" }),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    fields.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect()
}

/// What a page asks for, by the query of its address.
#[derive(Debug, PartialEq, Eq)]
enum Asks {
    /// `since=N`, or nothing: itself, since a moment.
    Page(Option<u32>),
    /// `moment`: from now on.
    Moment,
    /// `timeline=..`, and `since=N` in front: a part of the timeline.
    Timeline(Option<u32>, String),
    /// `code=NAME`: the bytecode of a method; the name as the page has it, percent-encoded. It is the same since whatever moment.
    Code(String),
}

impl Asks {
    /// None: no page asks that.
    fn parse(query: &str) -> Option<Asks> {
        let (mut since, mut timeline, mut code) = (None, None, None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                None if query == "moment" => return Some(Asks::Moment),
                Some(("since", number)) if since.is_none() => since = Some(number.parse().ok()?),
                Some(("timeline", question)) if timeline.is_none() => timeline = Some(question.to_owned()),
                Some(("code", name)) if code.is_none() => {
                    code = Some(percent_decode_str(name).decode_utf8().ok()?.into_owned());
                }
                _ => return None,
            }
        }
        if let Some(code) = code {
            return timeline.is_none().then_some(Asks::Code(code));
        }
        Some(timeline.map_or(Asks::Page(since), |question| Asks::Timeline(since, question)))
    }
}

/// A panic in one request is none of another's.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Page {
    /// The page of the files as they are now; none: the moment is not kept.
    fn now(&self, since: Option<u32>) -> Result<Option<String>> {
        let mut made = locked(&self.made);
        let is_old = made.is_live || made.since != since || made.stamps != stamps(&self.server.request.files);
        if is_old && !self.make(&mut made, since)? {
            return Ok(None);
        }
        Ok(Some(made.text.clone()))
    }

    /// Makes the page anew; false: the moment is not kept.
    fn make(&self, made: &mut Made, since: Option<u32>) -> Result<bool> {
        let copies = match since {
            None => None,
            Some(number) => match locked(&self.moments).files(number) {
                Some(copies) => Some((number, copies)),
                None => return Ok(false),
            },
        };
        *made = Made::new(&self.server, copies, &*self.listener)?;
        Ok(true)
    }

    /// The page of what somebody sent, by itself.
    fn opened(&self, name: &str, data: &[u8]) -> Result<String> {
        let folder = tempfile::tempdir().context("a folder for the profile")?;
        let path = folder.path().join(name);
        std::fs::write(&path, data).with_context(|| format!("a copy of {name}"))?;
        let request =
            session::Request { files: vec![path], since: Vec::new(), ..self.server.request.clone() };
        let make = || -> Result<String> {
            let session = (self.server.read)(&request)?;
            let timeline = Timeline::of_session(&session, &request)?;
            let sections = Sections::of_session(&session, &request, &timeline, Room::FILE)?;
            page::of_session(&session, &sections, &request, self.server.contexts, Served::No, &*self.listener)
        };
        // Where the copy lies is nobody's business.
        make().map_err(|error| {
            anyhow!(format!("{error:#}").replace(&format!("{}/", folder.path().display()), ""))
        })
    }

    /// Keeps what happened up to now, and answers with the number by which a page asks for what happens from now on.
    fn moment(&self) -> Result<Option<String>> {
        // What was asked for on the command line is not undone.
        if !self.server.request.since.is_empty() {
            return Ok(None);
        }
        let made = locked(&self.made);
        let number = locked(&self.moments).add(&made.session)?;
        Ok(Some(serde_json::json!({ "moment": number }).to_string()))
    }

    /// The bytecode of a method; none: no page asks that, since the page has no class path.
    fn code(&self, name: &str) -> Result<Option<String>> {
        let Some(class_path) = &self.server.class_path else { return Ok(None) };
        let mut code = dump::code_of(class_path, name)?;
        if let Some(code) = code.as_mut().filter(|code| code.len() > LONGEST) {
            code.truncate((0..=LONGEST).rev().find(|&at| code.is_char_boundary(at)).unwrap_or(0));
            code.push_str("\n.. instrument dump prints the rest\n");
        }
        Ok(Some(serde_json::json!({ "code": code }).to_string()))
    }

    /// What the page that was handed out last asks for; none: no page asks that.
    fn timeline(&self, since: Option<u32>, question: &str) -> Result<Option<String>> {
        let Some(question) = Question::parse(question) else { return Ok(None) };
        let mut made = locked(&self.made);
        if made.since != since && !self.make(&mut made, since)? {
            return Ok(None);
        }
        Ok(Some(question.answer(&made.timeline, &made.session.profiles)?))
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    files.iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn a_page_asks_for_itself_for_moments_and_for_the_timeline() {
        let timeline = |since| Some(Asks::Timeline(since, "1-2".to_owned()));
        for (query, expected) in [
            ("", Some(Asks::Page(None))),
            ("since=3", Some(Asks::Page(Some(3)))),
            ("moment", Some(Asks::Moment)),
            ("timeline=1-2", timeline(None)),
            ("since=3&timeline=1-2", timeline(Some(3))),
            ("code=a.B.c%28int%2C%20long%29", Some(Asks::Code("a.B.c(int, long)".to_owned()))),
            ("since=3&code=a", Some(Asks::Code("a".to_owned()))),
            ("code=a&timeline=1-2", None),
            ("code=%ff", None),
            ("since=-1", None),
            ("since=1&since=2", None),
            ("moment&since=1", None),
            ("moment=", None),
            ("other", None),
        ] {
            assert_eq!(Asks::parse(query), expected, "{query}");
        }
    }

    #[test]
    fn a_profile_that_is_sent_has_a_name_and_no_path() {
        assert_eq!(file_name("a%20b.iprof").as_deref(), Some("a b.iprof"));
        for name in ["", "..", "%2e%2e", "a%2fb", "a%5cb", "%00", "%ff", &"a".repeat(300)] {
            assert_eq!(file_name(name), None, "{name}");
        }
    }

    #[test]
    fn strangers_are_refused() {
        let ask = |method: &str, path: &str, headers: &[(&str, &str)]| {
            let mut request = Request::builder().method(method).uri(path);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(Body::empty()).unwrap();
            admitted("/secret/", &request).map_err(|(status, _)| status.as_u16())
        };
        let own = ("host", "127.0.0.1:4711");
        assert_eq!(ask("GET", "/secret/", &[own]), Ok(()));
        assert_eq!(ask("HEAD", "/secret/", &[own, ("origin", "http://127.0.0.1:4711")]), Ok(()));
        // A tunnel has a port of its own.
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1", "[::1]:9000", "127.9.9.9:1"] {
            let origin = format!("http://{host}");
            assert_eq!(ask("GET", "/secret/", &[("host", host), ("origin", &origin)]), Ok(()), "{host}");
            assert_eq!(ask("GET", "/", &[("host", host)]), Err(404), "{host}");
        }
        for host in
            ["localhost.evil.example", "127.0.0.1.evil.example:4711", "evil@127.0.0.1", "10.0.0.1:4711", ""]
        {
            assert_eq!(ask("GET", "/secret/", &[("host", host)]), Err(421), "{host}");
        }
        assert_eq!(
            ask("GET", "/secret/", &[("host", "localhost:1"), ("origin", "http://localhost:2")]),
            Err(403)
        );
        assert_eq!(ask("GET", "/secret/", &[]), Err(421));
        assert_eq!(ask("GET", "/secret/", &[("host", "evil.example:4711")]), Err(421));
        assert_eq!(ask("GET", "/secret/", &[own, ("origin", "http://evil.example")]), Err(403));
        assert_eq!(ask("GET", "/secret/", &[own, ("origin", "null")]), Err(403));
        assert_eq!(ask("GET", "/", &[own]), Err(404));
        assert_eq!(ask("GET", "/secret/../secret/", &[own]), Err(404));
        assert_eq!(ask("POST", "/secret/", &[own]), Err(405));
        assert_eq!(ask("POST", "/secret/", &[own, ("origin", "http://127.0.0.1:4711")]), Ok(()));
        assert_eq!(ask("POST", "/secret/", &[own, ("origin", "http://evil.example")]), Err(403));
        assert_eq!(ask("PUT", "/secret/", &[own, ("origin", "http://127.0.0.1:4711")]), Err(405));
    }
}
