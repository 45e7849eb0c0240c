//! Requests by HTTP between virtual machines (`--remote http`): which is which, by what both ends have told of every single one.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_analysis::merge::MatchState;
use instrument_tests::http::{Merged, Programs, Said, check_nonces, header, said};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::values::machines;
use instrument_tests::{rmi, subject};

const OPTIONS: &str = "transform=method-events:remote-http";

/// The classes of libraries that have to be included, as the book says, and what the programs are made of.
const RECORDED: [&str; 11] = [
    "*Hop*",
    "Clients*",
    "org.apache.http.impl.client.CloseableHttpClient",
    "org.apache.hc.client5.http.impl.classic.CloseableHttpClient",
    "org.apache.http.protocol.HttpRequestExecutor",
    "org.apache.hc.core5.http.impl.io.HttpRequestExecutor",
    "okhttp3.internal.connection.RealCall",
    "okhttp3.internal.http.CallServerInterceptor",
    "okhttp3.internal.http.RetryAndFollowUpInterceptor",
    "org.apache.catalina.core.ApplicationFilterChain",
    "org.eclipse.jetty.servlet.**",
];

/// What the client and its services have said.
struct Outcome {
    client: Vec<Said>,
    services: Vec<Said>,
    folder: tempfile::TempDir,
}

/// A client of a chain of services: `s1`, which asks `s2`.
fn chain(programs: &Programs, jre: &Jre, options: &str, client: &[&str]) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let (last, url) = programs.serve(jre, Some(options), "s2", at, &["Hop"])?;
    let (first, url) = programs.serve(jre, Some(options), "s1", at, &["Hop", &url])?;
    let mut asker = programs.java(jre, Some(options), "client", at)?;
    let (flags, rest) = client.split_at(client.iter().take_while(|word| word.starts_with('-')).count());
    // Flags stand in front of the main class, behind the class path.
    asker.args(flags).arg("Asker").arg(&url).args(rest);
    let output = asker.capture()?;
    let told = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && told.ends_with("done\n"), "{told}{errors}");
    ensure!(!errors.contains("instrument:"), "{errors}");
    let (mut services, mut makers) = (Vec::new(), said(&told));
    for service in [first, last] {
        let (told, errors) = service.stop()?;
        ensure!(!errors.contains("instrument:"), "{errors}");
        let (served, made): (Vec<_>, Vec<_>) = said(&told).into_iter().partition(|one| one.side == "served");
        services.extend(served);
        makers.extend(made);
    }
    Ok(Outcome { client: makers, services, folder })
}

/// 0 wrong ones, and each that was answered is there. 400 requests, 16 at a time, by three clients of the JDK: kept alive, redirected, not found, given up,
/// cancelled, broken off and repeated by the client.
#[test]
fn requests_through_three_processes_are_found_by_their_headers() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = Programs::compile(work.path(), &[], &[], |source| source)?;
    for (jre, header_of) in jre::each(&machines()?, &["own", "none"]) {
        let propagates = header_of == "none";
        let options = if propagates { format!("{OPTIONS},propagate=on") } else { OPTIONS.to_owned() };
        let property = format!("-Dheader={header_of}");
        let outcome = chain(&programs, &jre, &options, &[&property, "400", "16"])?;
        let merged = Merged::of(outcome.folder.path(), &["client", "s1", "s2"])?;
        let told = check_nonces(&merged, &outcome.client, &outcome.services)?;
        let (mut without_key, mut matched) = (0, 0);
        for (call, match_state, _) in merged.made() {
            let http = call.http.context("a request")?;
            match match_state {
                MatchState::Matched(_) => matched += 1,
                // Those of s1 have no header of their own.
                _ if match_state.word() == "no-key" && !propagates => without_key += 1,
                _ => ensure!(
                    http.status == 0 && ["repeated-key", "unanswered"].contains(&match_state.word()),
                    "{match_state:?}: {call:?}"
                ),
            }
        }
        let (made, served) = (merged.match_states(), merged.served());
        assert_eq!(made.values().sum::<usize>(), 560, "{made:?}");
        assert_eq!(without_key, if propagates { 0 } else { 160 }, "{made:?}");
        // Each tenth is broken off, and two tenths are given up: whether those arrived is another question.
        ensure!(matched + without_key >= 560 - 120 && told >= 280, "{told} told: {made:?} {served:?}");
        for word in served.keys() {
            ensure!(["by header", "repeated-key", "no-key"].contains(word), "{served:?}");
        }
    }
    Ok(())
}

/// The work of a service is in the tree below the request of the service before, and that below the client's.
#[test]
fn one_request_is_one_tree() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = Programs::compile(work.path(), &[], &[], |source| source)?;
    let options = format!("{OPTIONS},propagate=on");
    let outcome = chain(&programs, &jre::newest()?, &options, &["20", "2"])?;
    let paths: Vec<_> = ["client", "s1", "s2"]
        .iter()
        .map(|name| rmi::profile(outcome.folder.path(), name))
        .collect::<Result<_>>()?;
    let merged = rmi::merged(&paths, &["--prune", "0", "--collapse", "processes"])?;
    let tree = merged["xtree"]["tree"].to_string();
    for name in ["remote GET /next/?", "Hop.step", "remote GET /items/?"] {
        ensure!(tree.contains(name), "{name}: {tree}");
    }
    let links = subject::call()?.args(["merge", "--report", "services", "--json"]).args(&paths).capture()?;
    let services: serde_json::Value = serde_json::from_slice(&links.stdout)?;
    let rows = services["rows"].as_array().context("rows")?;
    let next = rows.iter().find(|row| row["method"] == "GET /next/?").context("the route")?;
    assert_eq!((&next["made"], &next["matched"], &next["kind"]), (&4.into(), &4.into(), &"http".into()));
    let missing = rows.iter().find(|row| row["method"] == "GET /missing/?").context("the route")?;
    assert_eq!((&missing["made"], &missing["failed"]), (&4.into(), &4.into()), "{missing}");
    Ok(())
}

/// Headers that are not valid are counted, and stay as they are; a large one beside a valid one takes nothing away.
#[test]
fn rubbish_in_headers_is_counted_and_left_alone() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = Programs::compile(work.path(), &[], &[], |source| source)?;
    let options = format!("{OPTIONS},propagate=on");
    let outcome = chain(&programs, &jre::newest()?, &options, &["-Dheader=rubbish", "110", "4"])?;
    let merged = Merged::of(outcome.folder.path(), &["client", "s1", "s2"])?;
    let expected = BTreeMap::from([("bad-key", 100), ("by header", 10)]);
    assert_eq!((merged.match_states(), merged.served()), (expected.clone(), expected));
    // As they came, so they went.
    let headers = |said: &[Said], side: &str| {
        let mut all: Vec<_> =
            said.iter().filter(|one| one.side == side).map(|one| (&one.nonce, &one.header)).collect();
        all.sort();
        format!("{all:?}")
    };
    assert_eq!(headers(&outcome.client, "made"), headers(&outcome.services, "served"));
    Ok(())
}

/// The requests of a program as they come over the wire, one after the other.
fn wire(programs: &Programs, jre: &Jre, options: Option<&str>, folder: &Path) -> Result<String> {
    let (server, url) = programs.serve(jre, None, "wire", folder, &["Wire"])?;
    programs.java(jre, options, "sender", folder)?.args(["Sender", &url]).run_quietly()?;
    Ok(server.stop()?.0)
}

/// Nothing is changed of what is sent; with `propagate` each request has the one header more, but those that had one.
#[test]
fn requests_are_the_same_bytes_but_for_the_header_that_was_asked_for() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = Programs::compile(work.path(), &[], &[], |source| source)?;
    for jre in jre::turn(machines()?) {
        let bare = wire(&programs, &jre, None, work.path())?;
        let recorded = wire(&programs, &jre, Some(OPTIONS), work.path())?;
        assert_eq!(recorded, bare, "Java {}", jre.version);
        let with = wire(&programs, &jre, Some(&format!("{OPTIONS},propagate=on")), work.path())?;
        let is_ours = |line: &&str| {
            let value = line.strip_prefix("traceparent: 00-").and_then(|rest| rest.strip_suffix("-00"));
            value.is_some_and(|ids| ids.len() == 49 && ids.as_bytes()[32] == b'-')
        };
        let requests = bare.matches("\n--\n").count();
        assert_eq!(requests, 10, "{bare}");
        let added: Vec<&str> = with.lines().filter(is_ours).collect();
        assert_eq!(added.len(), requests - 2, "{with}");
        let distinct: std::collections::BTreeSet<_> = added.iter().collect();
        assert_eq!(distinct.len(), added.len());
        let rest: Vec<&str> = with.lines().filter(|line| !is_ours(line)).collect();
        assert_eq!(rest, bare.lines().collect::<Vec<_>>(), "Java {}", jre.version);
    }
    Ok(())
}

/// Clients and containers as they are used: each request that a client makes is found in the container, filters, redirects, errors and asynchronous
/// answers included.
#[test]
fn libraries_and_containers_are_known() -> Result<()> {
    let jakarta = |source: String| source.replace("javax.servlet", "jakarta.servlet");
    let same = |source: String| source;
    type Case<'a> = (&'a str, &'a str, &'a [&'a str], fn(String) -> String);
    let cases: [Case<'_>; 3] = [
        ("Apache4", "TomcatHop", &["httpclient4", "tomcat-embed", "tomcat-annotations"], same),
        (
            "Apache5",
            "JettyHop",
            &[
                "httpclient5",
                "javax-servlet",
                "jetty-server",
                "jetty-servlet",
                "jetty-security",
                "jetty-http",
                "jetty-io",
                "jetty-util",
            ],
            same,
        ),
        ("Ok4", "TomcatHop", &["okhttp", "tomcat-embed-10", "tomcat-annotations-10"], jakarta),
    ];
    for (jre, (client, server, jars, change)) in jre::each(&machines()?, &cases) {
        let work = tempfile::tempdir()?;
        let parts = [
            format!("clients/{client}.java"),
            "clients/Clients.java".to_owned(),
            format!("servers/{server}.java"),
            "servers/ServletHop.java".to_owned(),
        ];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let programs = Programs::compile(work.path(), &parts, jars, change)?;
        let options = format!("{OPTIONS},propagate=on,include={}", RECORDED.join(":"));
        let (service, url) = programs.serve(&jre, Some(&options), "server", work.path(), &[server])?;
        let output = programs
            .java(&jre, Some(&options), "client", work.path())?
            .args([client, &url, "100", "8"])
            .capture()?;
        let told = String::from_utf8(output.stdout)?;
        ensure!(told.ends_with("done\n"), "{client}: {told}{}", String::from_utf8_lossy(&output.stderr));
        let (served, _) = service.stop()?;
        let merged = Merged::of(work.path(), &["client", "server"])?;
        let pairs = check_nonces(&merged, &said(&told), &said(&served))?;
        let made = merged.match_states();
        // OkHttp tells of each hop of a redirect, which has the same header on another path.
        let all = if client == "Ok4" { 120 } else { 100 };
        assert_eq!(
            (pairs, made),
            (all, BTreeMap::from([("by header", all)])),
            "{client}, Java {}",
            jre.version
        );
        // Not one of them needs its header.
        let placed = Merged::without_headers(work.path(), &["client", "server"])?;
        assert_eq!(check_nonces(&placed, &said(&told), &said(&served))?, all);
        assert_eq!(
            placed.match_states(),
            BTreeMap::from([("by ports", all)]),
            "{client}, Java {}",
            jre.version
        );
        for (call, ..) in merged.made() {
            ensure!(
                call.http.is_some_and(|http| [200, 302, 404].contains(&http.status)),
                "{client}: {call:?}"
            );
        }
        let names: Vec<&str> = merged.names().into_iter().collect();
        let expected = ["GET /items/?", "GET /later/?", "GET /missing/?", "GET /moved/?", "GET /next/?"];
        assert_eq!(names, expected, "{client}");
    }
    Ok(())
}

/// The other door: classes that were rewritten before they run.
#[test]
fn rewritten_classes_tell_of_their_requests_as_well() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = Programs::compile(work.path(), &[], &[], |source| source)?;
    let rewritten = programs.rewritten(&["--remote", "http", "--propagate"])?;
    let folder = tempfile::tempdir()?;
    let jre = jre::newest()?;
    let named = |name: &str| format!("-Dinstrument.name={name}");
    let mut java = rewritten.java(&jre, None, "s1", folder.path())?;
    java.args([&named("s1"), "Hop"]);
    let mut service = rmi::Running::start(java, "s1", folder.path())?;
    let url = format!("http://127.0.0.1:{}", service.line()?);
    let output = rewritten
        .java(&jre, None, "client", folder.path())?
        .args([&named("client"), "Asker", &url, "50", "8"])
        .capture()?;
    let told = String::from_utf8(output.stdout)?;
    ensure!(told.ends_with("done\n"), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let (served, _) = service.stop()?;
    let merged = Merged::of(folder.path(), &["client", "s1"])?;
    let pairs = check_nonces(&merged, &said(&told), &said(&served))?;
    let made = merged.match_states();
    ensure!(pairs >= 20 && made["by header"] >= 35, "{pairs}: {made:?}");
    ensure!(merged.made().all(|(call, ..)| header(call).is_some()), "{made:?}");
    Ok(())
}
