//! Requests to programs that run, on real virtual machines: what is known to be there is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::asked::Program;
use instrument_tests::hprof;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::subject;
use instrument_trace::Profile;
use serde_json::Value;
fn named<'v>(list: &'v Value, name: &str) -> &'v Value {
    let all = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn threads_and_monitors_are_listed() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = Program::start(&jre, "", &["-Xcheck:jni"])?;
        let threads = program.ask(&["threads"])?;
        let [main, waiter, blocked] =
            ["main", "waiter", "blocked"].map(|name| named(&threads["threads"], name));
        assert_eq!((&main["group"], &main["daemon"]), (&"main".into(), &false.into()), "{case}");
        assert_eq!((&waiter["group"], &waiter["daemon"]), (&"asked".into(), &true.into()), "{case}");
        assert_eq!((&waiter["state"], &blocked["state"]), (&"WAITING".into(), &"BLOCKED".into()), "{case}");
        assert_eq!(waiter["details"], serde_json::json!(["in Object.wait"]), "{case}");
        assert_eq!(blocked["waits_for"]["class"], "Asked$Lock", "{case}");
        ensure!(main["cpu_ns"].as_u64() > Some(0) && main.get("stack").is_none(), "{case}: {main}");
        let lock = blocked["waits_for"]["id"].as_i64().context("an id")?;
        ensure!(lock > 1 << 40, "{case}: {lock}");
        // Before 16, to be told would cost the program its escape analysis.
        match jre.version {
            ..16 => ensure!(main.get("owns").is_none(), "{case}: {main}"),
            _ => {
                let owned = main["owns"].as_array().context("monitors")?;
                ensure!(owned.contains(&blocked["waits_for"]), "{case}: {main}");
            }
        }

        let id = blocked["id"].to_string();
        let thread = program.ask(&["thread", &id])?;
        ensure!(
            thread["stack"][0]["class"].as_str().is_some_and(|class| class.starts_with("Asked")),
            "{case}: {thread}"
        );
        assert_eq!((&thread["stack"][0]["file"], &thread["name"]), (&"Asked.java".into(), &"blocked".into()));
        ensure!(thread["stack"][0]["line"].as_u64() > Some(0), "{case}: {thread}");
        assert_eq!(program.ask(&["thread", "blocked"])?["id"], blocked["id"], "{case}");
        let shallow = program.ask(&["threads", "--stacks", "--depth", "1"])?;
        ensure!(
            named(&shallow["threads"], "main")["stack"].as_array().map(Vec::len) == Some(1),
            "{case}: {shallow}"
        );

        let monitor = program.ask(&["monitor", &lock.to_string()])?;
        assert_eq!((&monitor["owner"]["name"], &monitor["entries"]), (&"main".into(), &2.into()), "{case}");
        assert_eq!(
            monitor["waiters"],
            serde_json::json!([{ "id": blocked["id"], "name": "blocked" }]),
            "{case}"
        );
        assert_eq!(monitor["notify_waiters"], serde_json::json!([]), "{case}");
        let monitors = program.ask(&["monitors"])?;
        let monitors = monitors["monitors"].as_array().context("monitors")?;
        ensure!(monitors.contains(&monitor), "{case}: {monitors:?}");
        let object = program.ask(&["object", &lock.to_string()])?;
        assert_eq!((&object["class"], &object["monitor"]), (&"Asked$Lock".into(), &monitor), "{case}");
        ensure!((8..=24).contains(&object["bytes"].as_u64().unwrap_or(0)), "{case}: {object}");

        let text = program.text(&["threads", "--stacks"])?;
        for line in
            ["\"blocked\" #", "BLOCKED", "    waits for Asked$Lock @", "    at Asked.answer (Asked.java:"]
        {
            ensure!(text.contains(line), "{case}: no {line:?} in {text}");
        }
        let text = program.text(&["monitors"])?;
        ensure!(
            text.contains("    owner    \"main\" #")
                && text.contains(", entered 2 times\n    to enter \"blocked\" #"),
            "{case}: {text}"
        );
        program.end()?;
    }
    Ok(())
}

#[test]
fn classes_are_listed_with_their_state() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = Program::start(&jre, "", &["-Xcheck:jni"])?;
        program.run("call 3")?;
        let classes = program.ask(&["classes", "Asked*", "--instances"])?;
        let [lock, asked] = ["Asked$Lock", "Asked"].map(|name| named(&classes["classes"], name));
        assert_eq!((&lock["instances"], &asked["instances"]), (&1.into(), &0.into()), "{case}");
        ensure!(
            lock["bytes"].as_u64() > Some(7)
                && asked["loader"]["class"].as_str().is_some_and(|c| c.contains("AppClassLoader")),
            "{case}: {classes}"
        );
        let all = program.ask(&["classes"])?;
        assert_eq!(named(&all["classes"], "java.lang.Object")["loader"]["name"], "boot", "{case}");
        ensure!(all["classes"].as_array().map(Vec::len) > Some(400), "{case}");
        program.ask(&["gc"])?;
        let classes = program.ask(&["classes", "Asked$Item", "--instances"])?;
        // One is held.
        assert_eq!(named(&classes["classes"], "Asked$Item")["instances"], 1, "{case}");

        let class = &program.ask(&["class", "Asked"])?["classes"][0];
        assert_eq!(
            (&class["source"], &class["superclass"]),
            (&"Asked.java".into(), &"java.lang.Object".into())
        );
        ensure!(
            class["status"].as_array().is_some_and(|words| words.contains(&"initialized".into())),
            "{case}: {class}"
        );
        assert_eq!(named(&class["fields"], "busy")["modifiers"], "static volatile", "{case}");
        let leaf = named(&class["methods"], "leaf");
        assert_eq!((&leaf["descriptor"], &leaf["modifiers"]), (&"(I)I".into(), &"static".into()), "{case}");
        // The number that the profile has it under.
        let id = leaf["id"].as_u64().context("it was rewritten")?;
        ensure!(leaf["code_bytes"].as_u64() > Some(5) && leaf["code_crc32"].is_u64(), "{case}: {leaf}");
        let again = &program.ask(&["class", &class["id"].to_string()])?["classes"][0];
        assert_eq!(again, class, "{case}");
        let object = &program.ask(&["class", "java/lang/Object"])?["classes"][0];
        ensure!(named(&object["methods"], "wait").get("id").is_none(), "{case}: {object}");
        ensure!(
            named(&object["methods"], "hashCode").get("code_bytes").is_none(),
            "{case}: it is native: {object}"
        );
        let text = program.text(&["class", "Asked"])?;
        ensure!(text.contains(&format!("    method {id}   static leaf(I)I\n")), "{case}: {text}");
        for (request, reason) in [
            (&["class", "no.such.Class"][..], "no class no.such.Class is loaded"),
            (&["class", "7"], "no object has the id 7"),
            (&["object", "0"], "no object has the id 0"),
            (&["thread", "123456"], "no platform thread has the id 123456"),
            (&["thread", "nobody"], "no platform thread is called `nobody`"),
            (&["classes", "a b"], "bad pattern `a b`"),
            (&["snapshot", "/"], "a snapshot needs the absolute path of a file"),
            (&["snapshot", "/nowhere/x"], "No such file"),
        ] {
            let said = program.refused(request)?;
            ensure!(said.contains(reason), "{case}: {request:?}: {said}");
        }
        program.end()?;
        let profile = program.profile()?;
        ensure!(
            profile
                .threads
                .iter()
                .any(|thread| thread.methods.get(&(id as u32)).is_some_and(|m| m.entries == 3)),
            "{case}"
        );
    }
    Ok(())
}

#[test]
fn what_runs_in_a_pause_is_not_recorded() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["counts", "tree", "trace"]) {
        for pause in [&["pause"][..], &["pause", "--bare"]] {
            is_not_recorded_in(&jre, record, pause)?;
        }
    }
    Ok(())
}

fn is_not_recorded_in(jre: &Jre, record: &str, pause: &[&str]) -> Result<()> {
    let case = format!("Java {}, {record}, {pause:?}", jre.version);
    let options = format!("record={record},transform=method-events:thread-links:allocation");
    let mut program = Program::start(jre, &options, &["-Xcheck:jni"])?;
    program.run("call 5")?;
    program.run("in")?;
    assert_eq!(program.ask(&["status"])?["recording"], "on", "{case}");
    let paused = program.ask(pause)?;
    assert_eq!((&paused["recording"], &paused["changed"]), (&"paused".into(), &true.into()), "{case}");
    assert_eq!(program.ask(pause)?["changed"], false, "{case}");
    assert_eq!(program.ask(&["status"])?["recording"], "paused", "{case}");
    program.run("call 1000")?;
    // A call from before ends, one begins that goes on after the pause.
    program.run("out")?;
    program.run("in")?;
    program.run("recurse 7")?;
    assert_eq!(program.ask(&["resume"])?["pauses"], 1, "{case}");
    program.run("recurse 2")?;
    program.run("call 10")?;
    program.run("out")?;
    program.run("call 1")?;
    program.end()?;
    let methods = subject::profile(program.folder.path())?;
    let method =
        |name: &str| methods.iter().find(|m| m.name == format!("Asked.{name}")).with_context(|| case.clone());
    for (name, entries) in [("leaf", 5 + 1 + 10 + 1), ("recurse", 3), ("call", 3), ("answer", 2)] {
        let method = method(name)?;
        assert_eq!((method.entries, method.exits), (entries, entries), "{case}: {method:?}");
    }
    ensure!(methods.iter().all(|m| m.unclosed + m.unmatched == 0), "{case}: {methods:?}");
    let report = subject::call()?
        .current_dir(program.folder.path())
        .args(["report", "--allocations", "--csv"])
        .args(program.profiles()?)
        .run_quietly()?;
    let report = String::from_utf8(report.stdout)?;
    ensure!(
        report.lines().any(|line| line.contains("17") && line.contains("Asked$Item")),
        "{case}: {report}"
    );
    assert_eq!(program.profile()?.pauses.len(), 1, "{case}");
    Ok(())
}

/// Calls of `Asked.leaf` whose durations `latency` has.
fn durations(profile: &Path, options: &[&str]) -> Result<u64> {
    let output = subject::call()?
        .args(["latency", "--json", "--method", "Asked#leaf"])
        .args(options)
        .arg(profile)
        .run_quietly()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    report["rows"][0]["returned"]["calls"].as_u64().context("no calls")
}

/// What was before a reset is in no figure, whatever is recorded; calls that were open count as begun then.
#[test]
fn a_reset_counts_from_now_on() -> Result<()> {
    let jre = jre::newest()?;
    for record in ["counts", "tree", "trace"] {
        let latency = if record == "tree" { ",latency=Asked#leaf" } else { "" };
        let mut program = Program::start(&jre, &format!("record={record}{latency}"), &[])?;
        program.run("call 100")?;
        let said = program.text(&["reset"])?;
        ensure!(said.contains("figures count from now on"), "{record}: {said}");
        program.run("call 7")?;
        let [profile] = &program.profiles()?[..] else { anyhow::bail!("{record}: not one profile") };
        let marker = PathBuf::from(format!("{}.reset", profile.display()));
        assert_eq!(fs::metadata(&marker)?.permissions().mode() & 0o777, 0o600, "{record}");
        let report = |file: &Path, options: &[&str]| -> Result<String> {
            let output = subject::call()?.arg("report").args(options).arg(file).run_quietly()?;
            Ok(String::from_utf8(output.stdout)?)
        };
        let entries = |file: &Path, options: &[&str]| -> Result<[Option<u64>; 3]> {
            let report: Value = serde_json::from_str(&report(file, &[options, &["--json"]].concat())?)?;
            assert_eq!(report["balance"]["holds"], true, "{record}");
            let of = |method: &str| {
                let rows = report["methods"].as_array()?;
                rows.iter().find(|row| row["name"].as_str().is_some_and(|n| n.starts_with(method)))?["entries"].as_u64()
            };
            Ok(["Asked.leaf(", "Asked.answer(", "Asked.call("].map(of))
        };
        assert_eq!(entries(profile, &[])?, [Some(7), Some(1), Some(1)], "{record}");
        assert_eq!(entries(profile, &["--since", "start"])?, [Some(107), Some(1), Some(2)], "{record}");
        if record != "counts" {
            assert_eq!((durations(profile, &[])?, durations(profile, &["--since", "start"])?), (7, 107));
        }
        if record == "trace" {
            let window = |options: &[&str]| -> Result<bool> {
                let output = subject::call()?.arg("timeline").args(options).arg(profile).run_quietly()?;
                Ok(String::from_utf8(output.stdout)?.starts_with("from 0 ns "))
            };
            assert_eq!((window(&[])?, window(&["--since", "start"])?), (false, true));
        }
        program.text(&["reset"])?;
        program.run("recurse 3")?;
        let copy = program.folder.path().join("copy.iprof");
        program.text(&["snapshot", &copy.display().to_string()])?;
        program.run("call 2")?;
        assert_eq!(
            entries(&copy, &[])?,
            [Some(1), Some(1), None],
            "{record}: a snapshot counts from there, too"
        );
        if record != "counts" {
            let said = report(&copy, &[])?;
            ensure!(said.contains("\nwindow      "), "{record}: {said}");
        }
        program.end()?;
        assert_eq!(entries(profile, &[])?, [Some(3), Some(1), Some(1)], "{record}");
        let since = copy.display().to_string();
        assert_eq!(entries(profile, &["--since", &since])?, [Some(2), Some(1), Some(1)], "{record}");
    }
    Ok(())
}

#[test]
fn the_heap_is_dumped_on_request() -> Result<()> {
    for (jre, options) in jre::each(&jre::all()?, &["heap=objects", "record=counts"]) {
        let case = format!("Java {}, {options}", jre.version);
        let mut program = Program::start(&jre, options, &["-Xcheck:jni"])?;
        program.run("busy")?;
        let (mut known, mut traced) = (0, 0);
        for _ in 0..2 {
            let said = program
                .ctl(&[&program.pid(), "heap-dump", "heap.hprof"])?
                .current_dir(program.folder.path())
                .run_quietly()?;
            ensure!(String::from_utf8(said.stdout)?.contains(" objects of "), "{case}");
            let dump = hprof::read(&program.folder.path().join("heap.hprof"))?;
            ensure!(dump.dangling().is_empty(), "{case}: {:?}", dump.dangling());
            let locks: Vec<_> = dump.objects.values().filter(|o| o.class == "Asked$Lock").collect();
            (known, traced) =
                (locks.len(), locks.iter().filter(|o| !dump.traces[&o.trace].is_empty()).count());
        }
        ensure!(known > 0, "{case}");
        assert_eq!(traced, if options == "heap=objects" { known } else { 0 }, "{case}");
        let said = program.refused(&["heap-dump", "/nowhere/x"])?;
        ensure!(said.contains("/nowhere/x"), "{said}");
        program.run("idle")?;
        program.end()?;
    }
    Ok(())
}

#[test]
fn snapshots_are_whole_while_threads_write() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["counts", "tree", "trace"]) {
        let case = format!("Java {}, {record}", jre.version);
        let options = format!("record={record}");
        let mut program = Program::start(&jre, &options, &["-Xcheck:jni"])?;
        program.run("busy")?;
        let mut before = 0;
        for round in 0..5 {
            // In the working directory of the client.
            let said = program
                .ctl(&[&program.pid(), "snapshot", "copy.iprof"])?
                .current_dir(program.folder.path())
                .run_quietly()?;
            ensure!(String::from_utf8(said.stdout)?.contains("the program was stopped for "), "{case}");
            let copy = program.folder.path().join("copy.iprof");
            let bytes = fs::read(&copy)?;
            assert_eq!(bytes[88], 1, "{case}: it does not say that it is a snapshot");
            let mode = fs::metadata(&copy)?.permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{case}: others may read it");
            let copied = Profile::parse(&bytes)?;
            assert_eq!(copied.damage, [], "{case}");
            let report = subject::call()?.args(["report", "--json"]).arg(&copy).run_quietly()?;
            let report: Value = serde_json::from_slice(&report.stdout)?;
            assert_eq!(report["balance"]["holds"], true, "{case}, {round}");
            let calls = report["methods"]
                .as_array()
                .context("methods")?
                .iter()
                .filter_map(|m| m["entries"].as_u64())
                .sum();
            ensure!(calls > before, "{case}, {round}: {calls} calls, {before} before");
            ensure!(copied.beat_clock > 0, "{case}");
            before = calls;
        }
        let itself = program
            .profiles()?
            .into_iter()
            .find(|path| !path.ends_with("copy.iprof"))
            .context("a profile")?;
        let said = program.refused(&["snapshot", &itself.display().to_string()])?;
        ensure!(said.contains("that is the profile itself"), "{said}");
        let beside = fs::read_dir(program.folder.path())?
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with('.'));
        assert_eq!(beside.count(), 0, "{case}");
        program.run("idle")?;
        program.end()?;
    }
    Ok(())
}

#[test]
fn a_program_that_was_joined_answers() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.home.join("bin/jcmd").exists()) {
        let mut program = Program::start_in(tempfile::tempdir()?, &jre, None, &[])?;
        let library = agent::library()?.display().to_string();
        let mut jcmd = Command::new(jre.home.join("bin/jcmd"));
        jcmd.args([&program.pid(), "JVMTI.agent_load", &library, "\"name=joined\""]).run_quietly()?;
        let end = Instant::now() + Duration::from_secs(60);
        while !program.socket().exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = program.ask(&["status"])?;
        assert_eq!((&status["recording"], &status["command"]), (&"on".into(), &"Asked".into()));
        // Who has which monitors must be asked for at the start of a program.
        let monitors = program.ask(&["monitors"])?;
        assert_eq!(monitors["only_contended"], true, "Java {}: {monitors}", jre.version);
        // What was waited for when nobody recorded is found on the stacks.
        let threads = program.ask(&["threads"])?;
        let blocked = named(&threads["threads"], "blocked");
        assert_eq!(blocked["waits_for"]["class"], "Asked$Lock", "Java {}: {threads}", jre.version);
        let locks = monitors["monitors"].as_array().context("monitors")?.iter();
        let lock = locks.filter(|one| one["id"] == blocked["waits_for"]["id"]).collect::<Vec<_>>();
        ensure!(lock.len() == 1 && lock[0]["owner"]["name"] == "main", "Java {}: {monitors}", jre.version);
        assert_eq!(lock[0]["waiters"], serde_json::json!([{ "id": blocked["id"], "name": "blocked" }]));
        program.ask(&["pause"])?;
        program.run("call 1")?;
    }
    Ok(())
}

#[test]
fn what_the_heap_profiler_follows_has_its_numbers() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "heap=objects", &["-Xcheck:jni"])?;
    let threads = program.ask(&["threads"])?;
    let lock = named(&threads["threads"], "blocked")["waits_for"].clone();
    let number = lock["id"].as_i64().context("an id")?;
    ensure!((1..1 << 40).contains(&number), "{lock}");
    let object = program.ask(&["object", &number.to_string()])?;
    assert_eq!(object["class"], "Asked$Lock");
    ensure!(object["made"]["thread"].as_u64() > Some(0), "{object}");
    let text = program.text(&["object", &number.to_string()])?;
    ensure!(text.contains("    made by  thread ") && text.contains("        at Asked."), "{text}");
    // Objects that are made in a pause have no biography.
    program.run("call 1")?;
    program.ask(&["pause"])?;
    program.run("call 1000")?;
    program.ask(&["resume"])?;
    program.run("call 2")?;
    program.end()?;
    let path = program.profiles()?.remove(0);
    let bytes = fs::read(path)?;
    let profile = Profile::parse(&bytes)?;
    let names = &profile.copies.values().next().context("a copy")?.class_names;
    let item = names.iter().find(|(_, name)| *name == "Asked$Item").context("the class")?;
    let mut items = 0;
    profile.for_each_object(&bytes.as_slice(), |object| items += u64::from(object.class == *item.0))?;
    assert_eq!(items, 3);
    Ok(())
}
