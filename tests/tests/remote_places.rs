//! Requests by HTTP without headers: each that both ends have recorded is found by its place on its connection, and never another one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::http::{Merged, Programs, Said, header, said};
use instrument_tests::jre;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::rmi::{self, Running};

const JARS: [&str; 12] = [
    "httpclient4",
    "httpclient5",
    "okhttp",
    "tomcat-embed",
    "tomcat-annotations",
    "javax-servlet",
    "jetty-server",
    "jetty-servlet",
    "jetty-security",
    "jetty-http",
    "jetty-io",
    "jetty-util",
];

/// Whatever is included: the calls of the libraries are recorded beside.
const OPTIONS: &str = "transform=method-events:remote-http,include=*Hop*:Storm*";

/// How many kinds of requests there are: `PATHS` of the client.
const KINDS: u64 = 13;
/// Clients take turns after so many requests each; the first of them is Apache HttpClient 4.
const CLIENTS: u64 = 3;
/// Those with TLS, of which OkHttp talks HTTP/2.
const TLS: u64 = 1;
/// What a valve of the container answers: no record.
const UNSEEN: u64 = 9;
/// Those by way of a proxy, of which the second says so.
const PROXIED: [u64; 2] = [10, 11];

/// Passes bytes on in both directions, as a proxy does that knows nothing of what it carries. Returns its port.
fn proxy(to: u16) -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for from in listener.incoming() {
            let connected = from.and_then(|from| Ok((from, TcpStream::connect(("127.0.0.1", to))?)));
            let Ok((from, to)) = connected else { continue };
            for (mut from, mut to) in [(from.try_clone(), to.try_clone()), (Ok(to), Ok(from))].map(
                |(from, to): (io::Result<TcpStream>, io::Result<TcpStream>)| (from.unwrap(), to.unwrap()),
            ) {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                    let _ = from.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    Ok(port)
}

fn keystore(folder: &Path) -> Result<String> {
    let file = folder.join("keys.p12");
    let mut keytool = Jdk::default_kit()?.tool("keytool");
    keytool.args([
        "-genkeypair",
        "-keyalg",
        "EC",
        "-alias",
        "one",
        "-dname",
        "CN=127.0.0.1",
        "-ext",
        "SAN=ip:127.0.0.1",
    ]);
    keytool.args(["-storetype", "PKCS12", "-storepass", "changeit", "-keystore"]).arg(&file).run_quietly()?;
    Ok(file.to_str().context("a path")?.to_owned())
}

/// Keep-alive, redirects, retries, timeouts, cancelled calls, errors, passwords, answers that nobody records, a server that is killed and started again, HTTP/1.1 and 2,
/// TLS and a proxy, 16 at a time by three clients, through two services: 0 wrong matches, all that both ends have recorded over HTTP/1.1 without a proxy, and a
/// true reason for each other one.
#[test]
fn requests_without_headers_are_found_by_their_places() -> Result<()> {
    let requests = if Corpus::full() { 10_000 } else { 360 };
    let work = tempfile::tempdir()?;
    let at = work.path();
    let parts = ["storm", "servers/ServletHop.java", "servers/JettyHop.java"];
    let programs = Programs::compile(at, &parts, &JARS, |source| source)?;
    let jre = jre::newest()?;
    let keys = keystore(at)?;
    let (last, next) = programs.serve(&jre, Some(OPTIONS), "s2", at, &["JettyHop"])?;
    let port = rmi::free_port();
    let arguments = ["StormHop", &keys, &port.to_string(), &next];
    let (first, url) = programs.serve(&jre, Some(OPTIONS), "s1", at, &arguments)?;
    let mut client = programs.java(&jre, Some(OPTIONS), "client", at)?;
    client
        .arg(format!("-Djavax.net.ssl.trustStore={keys}"))
        .arg("-Djavax.net.ssl.trustStorePassword=changeit");
    client.args(["Storm", &url, &format!("https://127.0.0.1:{}", port + 1)]);
    client.args([&format!("http://127.0.0.1:{}", proxy(port)?), &requests.to_string(), "16"]);
    let mut client = Running::start(client, "client", at)?;
    first.kill()?;
    let (again, _) = programs.serve(&jre, Some(OPTIONS), "again", at, &arguments)?;
    client.tell("")?;
    let (told, errors) = client.stop()?;
    ensure!(told.ends_with("done\n"), "{told}{errors}");
    let mut all = said(&told);
    for service in [again, last] {
        let (told, errors) = service.stop()?;
        ensure!(!errors.contains("instrument:"), "{errors}");
        all.extend(said(&told));
    }
    check(&Merged::without_headers(at, &["client", "s1", "again", "s2"])?, &all)
}

/// The process that is killed, among those below.
const KILLED: usize = 1;

fn check(merged: &Merged, told: &[Said]) -> Result<()> {
    let nonce = |said: &Said| Some((said.header.as_deref()?.get(3..52)?.to_owned(), said.nonce.clone()));
    let nonces: BTreeSet<(String, String)> = told.iter().filter_map(nonce).collect();
    let headers: BTreeSet<&String> = nonces.iter().map(|(header, _)| header).collect();
    assert_eq!(headers.len(), nonces.len(), "each header is of one nonce, whoever tells of it");
    let served = merged.all_served().filter(|&(party, _)| party != KILLED);
    let served: BTreeSet<_> = served.map(|(_, call)| (header(call), call.hash)).collect();
    let (mut matched, mut others, mut reopened) = (0, BTreeMap::new(), 0);
    for (call, match_state, other) in merged.made() {
        let key = call.http.and_then(|http| http.key).context("a key")?;
        let (number, part) = ((key.parent - 1) / 16, (key.parent - 1) % 16);
        let kind = number % KINDS;
        if let Some(other) = other {
            ensure!(header(call) == header(other) && call.hash == other.hash, "{call:?} {other:?}");
            ensure!(!PROXIED.contains(&kind) && kind != UNSEEN, "{call:?} {other:?}");
            matched += 1;
            continue;
        }
        let is_answered = call.http.is_some_and(|http| http.status != 0);
        let is_served = served.contains(&(header(call), call.hash));
        let is_true = match match_state.word() {
            "no-other-record" => is_answered && (PROXIED.contains(&kind) || kind == UNSEEN && !is_served),
            "shared-connection" => kind == TLS,
            "unanswered" => !is_answered && (PROXIED.contains(&kind) || !is_served),
            // Its connection had been closed and was opened again, which goes on counting. The client may have given it up all the same.
            "no-key" if part == 0 && (number / KINDS).is_multiple_of(CLIENTS) => {
                reopened += 1;
                true
            }
            // Before the first one of a client was sent, nobody knows that it would have told.
            "not-sent" | "no-key" => !is_answered && !is_served,
            _ => false,
        };
        ensure!(is_true, "{}, {is_served}: {call:?}", match_state.word());
        *others.entry(match_state.word()).or_insert(0) += 1;
    }
    println!("made: {matched} matched, {others:?}; served: {:?}", merged.served());
    let unmatched: usize = others.values().sum();
    ensure!(matched > unmatched && others.contains_key("shared-connection"), "{matched}: {others:?}");
    ensure!(reopened > 0, "{others:?}");
    let mut ends = merged.served();
    assert_eq!(ends.remove("by ports"), Some(matched));
    ensure!(ends.contains_key("forwarded") && !ends.contains_key("contradiction"), "{ends:?}");
    ensure!(!ends.contains_key("ambiguous-connection"), "{ends:?}");
    Ok(())
}
