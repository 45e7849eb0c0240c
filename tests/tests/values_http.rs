//! `--values http`: requests that are made and served as calls of their own, on real virtual machines.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::Outcome;
use instrument_tests::jre;
use instrument_tests::subject;
use instrument_tests::values::{
    Figures, Program, by_value, machines, profile, table, values, without_methods,
};

/// Requests of `Web` by the method that makes them: entries, exits, unwinds.
const MADE: &str = "
sync > HTTP GET http://127.0.0.1:PORT/items/?                                           5 5 0
sync > HTTP POST http://localhost:PORT/                                                 1 1 0
sync > HTTP (other method) http://localhost:PORT/                                       1 1 0
async > HTTP GET http://127.0.0.1:PORT/users/?/orders                                   4 4 0
plain > HTTP GET http://127.0.0.1:PORT/plain/v1                                         3 3 0
plain > HTTP HEAD http://127.0.0.1:PORT/plain/head                                      1 1 0
posts > HTTP POST http://127.0.0.1:PORT/posts                                           2 2 0
urls > HTTP GET http://127.0.0.1:PORT/urls                                              3 3 0
refused > HTTP GET http://127.0.0.1:CLOSED/closed                                       2 0 2
refused > HTTP GET http://127.0.0.1:PORT/again                                          2 2 0
fails > HTTP GET http://127.0.0.1:CLOSED/closed                                         1 0 1
wrapped > HTTP GET http://127.0.0.1:PORT/wrapped                                        2 2 0
own > HTTP (address not known)                                                          1 1 0
work > HTTP GET http://127.0.0.1:PORT/work/?                                            40 40 0
";

/// Requests of `Served` by the method that gives them to the servlet.
const SERVED: &str = "
take > HTTP GET /orders/?                                                               5 5 0
take > HTTP POST /orders                                                                1 1 0
read > FILE read missing.txt                                                            1 0 1
take > HTTP (other method) /a%1B[31m%202Eb%20c%0A%D800/%0A                              1 1 0
take > HTTP GET /LONG ..                                                                1 1 0
take > HTTP GET /tokens/?                                                               1 1 0
take > HTTP GET /people/?/?.json                                                        1 1 0
take > HTTP GET /                                                                       1 1 0
take > HTTP (address not known)                                                         2 2 0
fails > HTTP DELETE /orders/?                                                           1 0 1
direct > HTTP HEAD /direct                                                              1 1 0
";

fn served() -> BTreeMap<String, Figures> {
    table(&SERVED.replace("LONG", &"x".repeat(399)))
}

/// Without the ports, which differ from run to run.
fn without_ports(found: BTreeMap<String, Figures>, outcome: &Outcome) -> Result<BTreeMap<String, Figures>> {
    let (port, closed) =
        outcome.stdout.lines().next().and_then(|line| line.split_once(' ')).context("ports")?;
    let (port, closed) = (format!(":{port}/"), format!(":{closed}/"));
    let name = |name: String| name.replace(&port, ":PORT/").replace(&closed, ":CLOSED/");
    Ok(found.into_iter().map(|(path, figures)| (name(path), figures)).collect())
}

const WEB: &str = "transform=method-events:thread-links:waits:http,include=Web:Web$**";
const SERVLETS: &str = "transform=method-events:thread-links:waits:http:files,include=Served:Served$**";

#[test]
fn each_request_is_a_call_of_the_method_that_makes_it() -> Result<()> {
    let program = Program::compile("Web", &[], |source| source)?;
    let machines = machines()?;
    for jre in &machines {
        let under_the_agent = program.run_agent(jre, WEB, &[])?;
        let rewritten = program.run_rewritten(jre, &["--values", "http"], &[])?;
        for outcome in [under_the_agent, rewritten] {
            ensure!(outcome.stdout.ends_with("\nfailed\ndone\n"), "{}", outcome.stdout);
            let found = without_ports(values(&profile(&outcome)?)?, &outcome)?;
            assert_eq!(found, table(MADE), "Java {}", jre.version);
        }
    }
    for (jre, mode) in jre::each(&machines, &["record=counts", "record=trace"]) {
        let outcome = program.run_agent(&jre, &format!("{WEB},{mode}"), &[])?;
        let found = without_ports(by_value(&outcome)?, &outcome)?;
        assert_eq!(found, without_methods(table(MADE)), "Java {} {mode}", jre.version);
    }
    Ok(())
}

/// Through two layers, in both packages that servlets have had; a file within a request is told of, too.
#[test]
fn each_request_is_a_call_of_the_method_that_gives_it_to_a_servlet() -> Result<()> {
    for (jre, package) in jre::each(&machines()?, &["javax", "jakarta"]) {
        let jar = format!("{package}-servlet");
        let in_package = |source: String| source.replace("javax.servlet", &format!("{package}.servlet"));
        let program = Program::compile("Served", &[&jar], in_package)?;
        let under_the_agent = program.run_agent(&jre, SERVLETS, &[])?;
        let all = program.run_agent(&jre, "transform=method-events:http:files", &[])?;
        let rewritten = program.run_rewritten(&jre, &["--values", "http,files"], &[])?;
        for outcome in [under_the_agent, all, rewritten] {
            ensure!(outcome.stdout == "not allowed\ndone\n", "{}", outcome.stdout);
            assert_eq!(values(&profile(&outcome)?)?, served(), "{package}, Java {}", jre.version);
        }
    }
    Ok(())
}

#[test]
fn addresses_beyond_the_bound_are_one() -> Result<()> {
    let jre = jre::newest()?;
    let web = Program::compile("Web", &[], |source| source)?;
    let outcome = web.run_agent(&jre, &format!("{WEB},most-values=5"), &["8"])?;
    let found = without_ports(values(&profile(&outcome)?)?, &outcome)?;
    assert_eq!(found["many > HTTP GET http://127.0.0.1:PORT/c4"], [2, 2, 0]);
    assert_eq!(found["many > HTTP (others)"], [6, 6, 0]);
    assert_eq!(found.len(), 6, "{found:?}");
    let servlets = Program::compile("Served", &["javax-servlet"], |source| source)?;
    let outcome = servlets.run_agent(&jre, SERVLETS, &["1003"])?;
    let found = values(&profile(&outcome)?)?;
    assert_eq!(found["take > HTTP (others)"], [3, 3, 0]);
    assert_eq!(found.len(), 1001);
    Ok(())
}

#[test]
fn the_command_line_takes_several_kinds_of_values() -> Result<()> {
    let program = Program::compile("Served", &["javax-servlet"], |source| source)?;
    let profile = program.work.path().join("served.iprof");
    let instrument = |arguments: &[&str]| -> Result<(Option<i32>, String, String)> {
        let output = subject::call()?.current_dir(program.work.path()).args(arguments).output()?;
        Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
    };
    let java = jre::newest()?.home.join("bin/java").display().to_string();
    let class_path = std::env::join_paths([&program.classes, &program.jars[0]])?;
    let class_path = class_path.to_str().context("a path")?;
    let (code, _, errors) = instrument(&[
        "run",
        "--values",
        "jdbc,http,files",
        "--include",
        "Served*",
        "--out",
        "served.iprof",
        "--",
        &java,
        "-cp",
        class_path,
        "Served",
    ])?;
    ensure!(code == Some(0) && profile.exists(), "{errors}");
    let (_, tree, _) = instrument(&["xtree", "--prune", "0", "served.iprof"])?;
    let line = |text: &str| tree.lines().find(|line| line.ends_with(text)).map(str::trim_start);
    ensure!(line(" HTTP GET /orders/?").is_some_and(|line| line.starts_with("5 ")), "{tree}");
    ensure!(line(" FILE read missing.txt").is_some_and(|line| line.starts_with("1 ")), "{tree}");
    ensure!(!tree.contains('\u{1b}'), "{tree}");
    let (_, methods, _) =
        instrument(&["xarc", "--prune", "0", "--method", "HTTP DELETE /orders/?", "served.iprof"])?;
    ensure!(methods.contains("Served.fails"), "{methods}");

    // A kind that nothing is recorded of is said, and no other.
    let (_, report, _) = instrument(&["report", "served.iprof"])?;
    let none = "statements  none: no rewritten code ran one through the interfaces of java.sql";
    ensure!(report.contains(none) && report.matches("none: no rewritten code").count() == 1, "{report}");

    for word in ["http", "files"] {
        let (code, _, errors) =
            instrument(&["run", "--values", word, "--transform", "thread-links", "--", &java, "-version"])?;
        ensure!(code == Some(2) && errors.contains(&format!("--values {word} is about calls")), "{errors}");
    }
    Ok(())
}
