//! The viewer in a real browser; what does not hold in a scenario of `tests/viewer/drive.js` fails here.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, finish};
use instrument_tests::browser::{Server, drive, firefox, page, pictures};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::readers;
use instrument_tests::subject;
use tempfile::TempDir;

/// A recorded run of `Orders`, and its pages.
struct Orders {
    folder: TempDir,
    profile: PathBuf,
}

impl Orders {
    fn new(record: &str) -> Result<Orders> {
        let folder = tempfile::tempdir()?;
        let classes = agent::compile(&["Orders.java"], 8, folder.path())?;
        let profile = folder.path().join(format!("orders-{record}.iprof"));
        let mut command = subject::call()?;
        command
            .args(["run", "--record", record])
            // What takes a moment has a time as well.
            .args(if record == "tree" { &["--timing", "auto"][..] } else { &[] })
            .arg("--out")
            .arg(&profile)
            .arg("--agent")
            .arg(agent::library()?);
        command
            .arg("--")
            .arg(Jdk::default_kit()?.home.join("bin/java"))
            .arg("-cp")
            .arg(classes)
            .arg("Orders");
        let outcome = finish(command)?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        Ok(Orders { folder, profile })
    }

    /// What a report prints for programs.
    fn json(&self, report: &str) -> Result<PathBuf> {
        let output = subject::call()?.args(["--quiet", report, "--json"]).arg(&self.profile).run_quietly()?;
        let path = self.folder.path().join(format!("{report}.json"));
        fs::write(&path, output.stdout)?;
        Ok(path)
    }

    fn page(&self) -> Result<PathBuf> {
        page(&self.profile, &self.folder.path().join("orders.html"))
    }
}

/// What needs no browser: figures as text, names, sums, tables, windows, questions.
#[test]
fn what_is_worked_out_without_a_page_is_right() -> Result<()> {
    Command::new("node").arg(root().join("tests/viewer/pure.js")).run_quietly().map(drop)
}

#[test]
fn every_figure_is_that_of_the_command_line() -> Result<()> {
    let mut pages = Vec::new();
    for record in ["tree", "trace"] {
        let orders = Orders::new(record)?;
        let found = drive("sums", &[&orders.page()?, &orders.json("xtree")?, &orders.json("xprof")?])?;
        // 101 levels of `depth` alone.
        ensure!(found["contexts"].as_u64() > Some(110) && found["methods"].as_u64() > Some(10), "{found}");
        pages.push(orders);
    }
    // An address of one run shows the same in a page of another.
    let found = drive("address", &[&pages[0].page()?, &pages[1].page()?])?;
    ensure!(found["keys"].as_u64() > Some(110), "{found}");
    Ok(())
}

#[test]
fn a_person_finds_what_table_1_and_table_2_of_javiz_list() -> Result<()> {
    let orders = Orders::new("tree")?;
    let page_of_others = page(&hostile(orders.folder.path())?, &orders.folder.path().join("others.html"))?;
    let html = orders.page()?;
    drive("table1", &[&html, &orders.json("stats")?])?;
    let found = drive("table2", &[&html, &page_of_others, &pictures()?])?;
    ensure!(found["nodes"].as_u64() > Some(4), "{found}");
    Ok(())
}

#[test]
fn all_of_it_works_by_keyboard() -> Result<()> {
    let orders = Orders::new("tree")?;
    let folder = pictures()?;
    let found = drive("keyboard", &[&orders.page()?, &folder])?;
    ensure!(found["boxes"].as_u64() > Some(10), "{found}");
    for view in ["summary", "tree", "graph", "flame", "sandwich", "methods", "threads", "dark"] {
        let bytes = fs::metadata(folder.join(format!("{view}.png")))?.len();
        ensure!(bytes > 10_000, "{view}: a picture of {bytes} bytes");
    }
    Ok(())
}

/// Callers 75 deep with long names, none of which calls only the next.
fn deep(folder: &Path) -> Result<PathBuf> {
    let name = |i: usize, k: usize| {
        format!(
            "com.acme.shop.internal.deeply{k}.nested.CatalogueEntryRepository{i}.findByCustomerAndWarehouse{i}(com.acme.shop.model.Customer, java.util.Optional)"
        )
    };
    let mut stack = "main".to_owned();
    let mut lines = String::new();
    for i in 0..75 {
        stack += &format!(";{}", name(i, i % 3));
        lines += &format!("{stack};{} {}\n", name(i, 9), i + 5);
    }
    let path = folder.join("deep.folded");
    fs::write(&path, lines)?;
    Ok(path)
}

/// Measured in the browser: of every row of every view, at 1280x720 and 1920x1080, the name of the method; of every box as much as fits.
#[test]
fn names_can_be_read_however_deep() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let html = page(&deep(folder.path())?, &folder.path().join("deep.html"))?;
    let found = drive("names", &[&html, &pictures()?])?;
    ensure!(found["deepest"].as_u64() >= Some(75) && found["rows"].as_u64() > Some(150), "{found}");
    ensure!(found["boxes"].as_u64() > Some(50), "{found}");
    let orders = Orders::new("trace")?;
    drive("names", &[&orders.page()?, &pictures()?])?;
    Ok(())
}

/// The rules that axe-core takes for serious, in every view, light and dark.
#[test]
fn everybody_can_use_it() -> Result<()> {
    let orders = Orders::new("trace")?;
    let found = drive("access", &[&orders.page()?, &readers::axe_core()?, &pictures()?])?;
    ensure!(found["views"].as_u64() > Some(15), "{found}");
    Ok(())
}

/// Every view, light and dark, in another browser than the one that all other tests drive; with the keys of WAI-ARIA in that one.
#[test]
fn it_works_in_firefox_and_by_the_keys_of_its_roles() -> Result<()> {
    let orders = Orders::new("trace")?;
    let html = orders.page()?;
    let found = drive("roles", &[&html])?;
    ensure!(found["rows"].as_u64() > Some(3), "{found}");
    match firefox(&html)? {
        Some(found) => {
            ensure!(found["views"].as_u64() > Some(6) && found["rows"].as_u64() > Some(20), "{found}")
        }
        None => eprintln!(
            "not looked at in Firefox: it is not installed (apt-get install firefox-esr, or set FIREFOX)"
        ),
    }
    Ok(())
}

/// On a terminal, which `script` makes, `run` says at its start where the profile goes, and a page is seen to be made; in a pipe neither is.
#[test]
fn a_terminal_is_told_what_goes_on() -> Result<()> {
    let orders = Orders::new("counts")?;
    let html = orders.folder.path().join("seen.html");
    let on_terminal = |words: &str| -> Result<String> {
        let line = format!("'{}' {words}", subject::instrument()?.display());
        let mut script = std::process::Command::new("script");
        script.args(["-qfec", &line, "/dev/null"]).env("TERM", "xterm").stdin(Stdio::null());
        Ok(String::from_utf8(script.run_quietly()?.stdout)?)
    };
    let profile = orders.profile.display();
    let said = on_terminal(&format!("view --html '{}' '{profile}'", html.display()))?;
    ensure!(said.contains("reading the profile ..") && said.contains("\r\u{1b}[Kpage: "), "{said:?}");
    let out = orders.folder.path().join("again.iprof");
    let said = on_terminal(&format!(
        "run --agent '{}' --out '{}' -- true",
        agent::library()?.display(),
        out.display()
    ))?;
    ensure!(said.starts_with(&format!("the profile goes to {}", out.display())), "{said:?}");
    let quiet = subject::call()?.args(["view", "--html"]).arg(&html).arg(&orders.profile).output()?;
    let quiet = String::from_utf8(quiet.stderr)?;
    ensure!(quiet.starts_with("page: ") && !quiet.contains('\u{1b}'), "{quiet:?}");
    Ok(())
}

/// Callers and callees of a method that several call, of one that calls itself, and of one that nobody recorded calls.
#[test]
fn callers_and_callees_are_those_of_xtree_with_a_focus() -> Result<()> {
    let orders = Orders::new("tree")?;
    let mut documents = Vec::new();
    for (i, method) in
        ["Orders$Item.price()I", "Orders.depth(I)I", "Orders.main([Ljava/lang/String;)V"].iter().enumerate()
    {
        let mut command = subject::call()?;
        command.args(["--quiet", "xtree", "--json", "--prune", "0", "--focus", method]).arg(&orders.profile);
        let path = orders.folder.path().join(format!("focus{i}.json"));
        fs::write(&path, command.run_quietly()?.stdout)?;
        documents.push(path);
    }
    let (html, folder) = (orders.page()?, pictures()?);
    let arguments: Vec<&Path> =
        [&html, &folder].into_iter().chain(&documents).map(PathBuf::as_path).collect();
    let found = drive("sandwich", &arguments)?;
    // `depth` alone is a chain of 101.
    ensure!(found["boxes"].as_u64() > Some(100), "{found}");
    Ok(())
}

/// One run beside one of another kind, and three beside three.
#[test]
fn a_comparison_shows_what_diff_prints() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, lines: &str| -> Result<PathBuf> {
        let path = folder.path().join(name);
        fs::write(&path, lines)?;
        Ok(path)
    };
    let before = write("before.folded", "main;list;price 1000\nmain;list 50\nmain;parse 70\nmain;gone 3\n")?;
    let after = write("after.folded", "main;list;price 51000\nmain;list 50\nmain;parse 70\nmain;new;x 9\n")?;
    let [tree, other] = [Orders::new("tree")?, Orders::new("tree")?];
    let runs = [&tree, &other, &tree].map(|orders| orders.profile.clone());
    let several =
        [&runs[..], &[PathBuf::from("--")], &[other.profile.clone(), tree.profile.clone()]].concat();
    for (number, files) in
        [vec![before, after], vec![tree.profile.clone(), other.profile.clone()], several].iter().enumerate()
    {
        let html = folder.path().join(format!("{number}.html"));
        let written = subject::call()?.args(["--quiet", "diff", "--html"]).arg(&html).args(files).output()?;
        let compared = subject::call()?.args(["diff", "--json"]).args(files).output()?;
        ensure!(written.status.code() == compared.status.code(), "{written:?}");
        ensure!(written.stdout.is_empty() && html.is_file(), "{written:?}");
        let document = folder.path().join(format!("{number}.json"));
        fs::write(&document, compared.stdout)?;
        let scenario = if number == 0 { "difference" } else { "sides" };
        let found = drive(scenario, &[&html, &pictures()?, &document])?;
        ensure!(found["contexts"].as_u64() > Some(5), "{found}");
        ensure!(number > 0 || found["first"] == "price", "{found}");
    }
    Ok(())
}

/// Folded stacks with names that are markup, 10,000 characters long, of another direction, 2,100 deep.
fn hostile(folder: &Path) -> Result<PathBuf> {
    let evil = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>";
    let deep: Vec<String> = (0..2100).map(|i| format!("deep{i}")).collect();
    let lines = [
        format!("main;{evil};x 5"),
        format!("main;{} 7", "a".repeat(10_000)),
        "main;\u{202e}gnp.evil\u{202c};y 3".to_owned(),
        format!("{} 2", deep.join(";")),
        "main;'\"&{{script}}{{document}}$&$1 4".to_owned(),
        "main;__proto__;constructor 1".to_owned(),
    ];
    let path = folder.join("hostile.folded");
    fs::write(&path, lines.join("\n") + "\n")?;
    Ok(path)
}

#[test]
fn hostile_names_are_text() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let html = page(&hostile(folder.path())?, &folder.path().join("hostile.html"))?;
    let found = drive("hostile", &[&html])?;
    ensure!(found["deepest"].as_u64() >= Some(2100), "{found}");
    Ok(())
}

/// The sum of all calls on the page of a server, loaded anew.
fn calls(server: &Server) -> Result<u64> {
    drive("server", &[&server.address])?["calls"].as_u64().context("calls")
}

#[test]
fn the_server_shows_a_file_and_what_became_of_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("shown.folded");
    fs::write(&file, "main;a 5\n")?;
    let server = Server::start(&file)?;
    ensure!(calls(&server)? == 5);
    fs::write(&file, "main;a 5\nmain;b 6\n")?;
    ensure!(calls(&server)? == 11);
    // Another file is dropped on the page; what cannot be shown is said, and what is too large is refused.
    let other = folder.path().join("other.folded");
    fs::write(&other, "main;b 7\nmain;c 8\n")?;
    let none = folder.path().join("none.iprof");
    fs::write(&none, "no profile")?;
    let found = drive("dropped", &[&server.address, &other, &none])?;
    ensure!(found["calls"] == 15, "{found}");
    Ok(())
}

/// A profile grows in place: neither its length nor its time has to change.
#[test]
fn the_server_shows_what_a_program_has_done_since() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let classes = agent::compile(&["Asked.java"], 8, folder.path())?;
    let profile = folder.path().join("asked.iprof");
    let mut java = std::process::Command::new(Jdk::default_kit()?.home.join("bin/java"));
    java.arg(agent::option(&format!("out={},ctl=off,timing=auto", profile.display()))?)
        .arg("-cp")
        .arg(classes)
        .arg("Asked");
    let mut program = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = program.stdin.take().context("stdin")?;
    let mut lines = BufReader::new(program.stdout.take().context("stdout")?).lines();
    ensure!(lines.next().transpose()?.as_deref() == Some("ready"));
    let server = Server::start(&profile)?;
    let mut seen = Vec::new();
    for _ in 0..3 {
        writeln!(input, "call 100")?;
        ensure!(lines.next().transpose()?.as_deref() == Some("call 100"));
        seen.push(calls(&server)?);
    }
    // `call`, and `leaf` and a constructor a hundred times.
    ensure!(seen[1] - seen[0] == 201 && seen[2] - seen[1] == 201, "{seen:?}");
    // By its process id; the page asks again by itself.
    let server = Server::start(Path::new(&program.id().to_string()))?;
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::SeqCst) && writeln!(input, "call 10").is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
        });
        let found = drive("live", &[&server.address]);
        is_done.store(true, std::sync::atomic::Ordering::SeqCst);
        found
    })?;
    let figure = |key: &str| found[key].as_u64();
    ensure!(figure("paused") > figure("first"), "{found}");
    ensure!(figure("cut") < figure("grown") && figure("grown") < figure("whole"), "{found}");
    ensure!(figure("cut") < figure("first") && figure("whole") > figure("paused"), "{found}");
    ensure!(found["shown"] == "methods", "{found}");
    // The command that the page shows has the copy of that moment, and works as long as the server does.
    let command = found["command"].as_str().context("command")?;
    let words: Vec<_> = command.split_whitespace().skip(1).collect();
    ensure!(words.contains(&"--since"), "{command}");
    let mut call = subject::call()?;
    call.args(words);
    let outcome = finish(call)?;
    ensure!(
        outcome.code == Some(0) && outcome.stdout.contains("Asked.call"),
        "{command}: {}",
        outcome.stderr
    );
    drop(input);
    program.wait()?;
    Ok(())
}

/// Counts have no contexts: their methods are shown below their threads. What has no calls has no page.
#[test]
fn counts_are_shown_and_nothing_is_an_error() -> Result<()> {
    let orders = Orders::new("counts")?;
    let html = orders.page()?;
    let found = drive("server", &[Path::new(&format!("file://{}", html.display()))])?;
    ensure!(found["calls"].as_u64() > Some(3000), "{found}");

    let empty = orders.folder.path().join("empty.html");
    let mut command = subject::call()?;
    command.args(["view", "--thread", "nobody", "--html"]).arg(&empty).arg(&orders.profile);
    let outcome = finish(command)?;
    ensure!(outcome.code == Some(2) && outcome.stderr.contains("no context to show"), "{}", outcome.stderr);
    ensure!(!empty.exists());
    Ok(())
}

#[test]
fn small_contexts_are_left_out_by_name() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("wide.folded");
    let lines: String = (0..500).map(|i| format!("main;m{i};x {}\n", 1 + 1000 * u32::from(i < 5))).collect();
    fs::write(&file, lines)?;
    let html = folder.path().join("wide.html");
    let mut command = subject::call()?;
    command.args(["view", "--contexts", "50", "--html"]).arg(&html).arg(&file);
    let outcome = finish(command)?;
    ensure!(outcome.code == Some(0) && outcome.stderr.contains("952 small contexts"), "{}", outcome.stderr);
    ensure!(drive("server", &[Path::new(&format!("file://{}", html.display()))])?["total"] == 5500);
    Ok(())
}
