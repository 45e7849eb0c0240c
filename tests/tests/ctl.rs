//! Requests to programs that run, on real virtual machines: what is known to be there is told, and nothing that is sent does harm.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::hprof;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::subject;
use instrument_trace::Profile;
use serde_json::Value;
use tempfile::TempDir;

fn classes() -> &'static Path {
    static CLASSES: OnceLock<TempDir> = OnceLock::new();
    let folder = CLASSES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        agent::compile(&["Asked.java"], 8, folder.path()).unwrap();
        folder
    });
    folder.path()
}

/// `Asked`, as it runs.
struct Program {
    folder: TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it in a folder of its own, with the agent and these options, and flags of the virtual machine.
    fn start(jre: &Jre, options: &str, flags: &[&str]) -> Result<Program> {
        Program::start_in(tempfile::tempdir()?, jre, Some(options), flags)
    }

    fn start_in(folder: TempDir, jre: &Jre, options: Option<&str>, flags: &[&str]) -> Result<Program> {
        let mut java = jre.java();
        if let Some(options) = options {
            java.arg(agent::option(&format!("name=asked,{options}"))?);
        }
        java.args(flags).arg("-cp").arg(classes()).arg("Asked");
        let stderr = fs::File::create(folder.path().join("stderr"))?;
        let mut child = java
            .current_dir(folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().context("a pipe")?);
        let mut program = Program { folder, child, stdin, stdout: BufReader::new(stdout) };
        program.read("ready")?;
        Ok(program)
    }

    /// Waits for this line.
    fn read(&mut self, line: &str) -> Result<()> {
        let mut read = String::new();
        self.stdout.read_line(&mut read)?;
        ensure!(read.trim_end() == line, "{read:?}, not {line:?}: {}", self.stderr());
        Ok(())
    }

    /// Has it do something.
    fn run(&mut self, line: &str) -> Result<()> {
        writeln!(self.stdin.as_mut().context("it has ended")?, "{line}")?;
        self.read(line)
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join(format!("instrument/{}.sock", self.child.id()))
    }

    /// A call of `instrument ctl`.
    fn ctl(&self, arguments: &[&str]) -> Result<Command> {
        let mut call = subject::call()?;
        call.env("XDG_RUNTIME_DIR", self.folder.path()).arg("ctl").args(arguments);
        Ok(call)
    }

    /// The answer to a request.
    fn ask(&self, request: &[&str]) -> Result<Value> {
        let output = self
            .ctl(&[&[self.pid().as_str(), "--json"], request].concat())?
            .run_quietly()
            .with_context(|| self.stderr())?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The answer as text for people.
    fn text(&self, request: &[&str]) -> Result<String> {
        let output = self.ctl(&[&[self.pid().as_str()], request].concat())?.run_quietly()?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Why a request is refused.
    fn refused(&self, request: &[&str]) -> Result<String> {
        let output = self.ctl(&[&[self.pid().as_str()], request].concat())?.output()?;
        ensure!(output.status.code() == Some(1) && output.stdout.is_empty(), "{request:?}: {output:?}");
        Ok(String::from_utf8(output.stderr)?)
    }

    /// Sends bytes, and gives the whole reply.
    fn send(&self, bytes: &[u8]) -> Result<Value> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.write_all(bytes)?;
        reply(stream)
    }

    /// Lets it end; the agent has said nothing.
    fn end(&mut self) -> Result<()> {
        self.stdin = None;
        let status = self.child.wait()?;
        ensure!(status.success() && self.stderr().is_empty(), "{status}: {}", self.stderr());
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reply(mut stream: UnixStream) -> Result<Value> {
    let mut text = String::new();
    // What was sent and not read makes an error of the end.
    let _ = stream.read_to_string(&mut text);
    ensure!(text.ends_with('\n') && text.lines().count() == 1, "{text:?}");
    Ok(serde_json::from_str(&text)?)
}

fn named<'v>(list: &'v Value, name: &str) -> &'v Value {
    let all = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn threads_and_monitors_are_listed() -> Result<()> {
    for jre in jre::all()? {
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
    for jre in jre::all()? {
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
        let profile = profile(&program)?;
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

fn profile(program: &Program) -> Result<Profile> {
    let mut entries = fs::read_dir(program.folder.path())?.flatten().map(|entry| entry.path());
    let path = entries.find(|path| path.extension().is_some_and(|e| e == "iprof")).context("a profile")?;
    Ok(Profile::parse(&fs::read(path)?)?)
}

#[test]
fn what_runs_in_a_pause_is_not_recorded() -> Result<()> {
    for jre in jre::all()? {
        for record in ["counts", "tree", "trace"] {
            let case = format!("Java {}, {record}", jre.version);
            let options = format!("record={record},transform=method-events:thread-links:allocation");
            let mut program = Program::start(&jre, &options, &["-Xcheck:jni"])?;
            program.run("call 5")?;
            program.run("in")?;
            assert_eq!(program.ask(&["status"])?["recording"], "on", "{case}");
            let paused = program.ask(&["pause"])?;
            assert_eq!(
                (&paused["recording"], &paused["changed"]),
                (&"paused".into(), &true.into()),
                "{case}"
            );
            assert_eq!(program.ask(&["pause"])?["changed"], false, "{case}");
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
            let method = |name: &str| {
                methods.iter().find(|m| m.name == format!("Asked.{name}")).with_context(|| case.clone())
            };
            for (name, entries) in [("leaf", 5 + 1 + 10 + 1), ("recurse", 3), ("call", 3), ("answer", 2)] {
                let method = method(name)?;
                assert_eq!((method.entries, method.exits), (entries, entries), "{case}: {method:?}");
            }
            ensure!(methods.iter().all(|m| m.unclosed + m.unmatched == 0), "{case}: {methods:?}");
            let report = subject::call()?
                .current_dir(program.folder.path())
                .args(["report", "--allocations", "--csv"])
                .args(iprof(&program)?)
                .run_quietly()?;
            let report = String::from_utf8(report.stdout)?;
            ensure!(
                report.lines().any(|line| line.contains("17") && line.contains("Asked$Item")),
                "{case}: {report}"
            );
            assert_eq!(profile(&program)?.pauses.len(), 1, "{case}");
        }
    }
    Ok(())
}

fn iprof(program: &Program) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(program.folder.path())?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| path.extension().is_some_and(|e| e == "iprof")).collect())
}

/// What was before a reset is in no figure, whatever is recorded; calls that were open count as begun then.
#[test]
fn a_reset_counts_from_now_on() -> Result<()> {
    let jre = jre::newest()?;
    for record in ["counts", "tree", "trace"] {
        let mut program = Program::start(&jre, &format!("record={record}"), &[])?;
        program.run("call 100")?;
        let said = program.text(&["reset"])?;
        ensure!(said.contains("figures count from now on"), "{record}: {said}");
        program.run("call 7")?;
        let [profile] = &iprof(&program)?[..] else { anyhow::bail!("{record}: not one profile") };
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
    for jre in jre::all()? {
        for options in ["heap=objects", "record=counts"] {
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
    }
    Ok(())
}

#[test]
fn snapshots_are_whole_while_threads_write() -> Result<()> {
    for jre in jre::all()? {
        for record in ["counts", "tree", "trace"] {
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
            let itself = iprof(&program)?
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
    }
    Ok(())
}

#[test]
fn garbage_does_no_harm() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "", &["-Xcheck:jni"])?;
    for (bytes, reason) in [
        (&b"\n"[..], "not a request: EOF"),
        (b"hello\n", "not a request: expected value"),
        (b"\xff\xfe\x00\n", "not a request: "),
        (b"[1]\n", "not a request: not an object"),
        (b"{\"request\":\"gc\"}\n", "it has no version"),
        (b"{\"v\":2,\"request\":\"gc\"}\n", "version 2 of the protocol; this is version 1"),
        (b"{\"v\":1,\"request\":\"dump\"}\n", "unknown variant `dump`"),
        (b"{\"v\":1,\"request\":\"thread\",\"id\":\"x\"}\n", "invalid type: string"),
        (b"{\"v\":1,\"request\":\"thread\",\"id\":99999999999999999999}\n", "invalid"),
        (b"{\"v\":1,\"request\":\"threads\",\"stacks\":-1}\n", "invalid value"),
        (b"{\"v\":1,\"request\":\"class\"}\n", "a class has a name or an id"),
        (b"{\"v\":1,\"request\":\"snapshot\",\"file\":\"here\"}\n", "a snapshot needs the absolute path"),
    ] {
        let reply = program.send(bytes)?;
        ensure!(reply["error"].as_str().is_some_and(|said| said.contains(reason)), "{reply}, not {reason}");
    }
    let deep = [&b"[".repeat(60_000)[..], b"\n"].concat();
    ensure!(program.send(&deep)?["error"].as_str().is_some_and(|said| said.contains("recursion limit")));
    let huge = vec![b' '; 2 << 20];
    let mut stream = UnixStream::connect(program.socket())?;
    // It is left alone before all of it was sent.
    let _ = stream.write_all(&huge);
    ensure!(reply(stream)?["error"].as_str().is_some_and(|said| said.contains("at most 1048576 bytes")));
    // Gone before the answer; and many at a time, of which each has its turn.
    for _ in 0..20 {
        UnixStream::connect(program.socket())?.write_all(b"{\"v\":1,\"request\":\"threads\"}\n")?;
    }
    let streams: Vec<UnixStream> =
        (0..20).map(|_| UnixStream::connect(program.socket())).collect::<Result<_, _>>()?;
    for mut stream in streams {
        stream.write_all(b"{\"v\":1,\"request\":\"status\"}\n")?;
        assert_eq!(reply(stream)?["ok"]["pid"], program.child.id());
    }
    // Whoever sends nothing is not waited for without end.
    let silent = UnixStream::connect(program.socket())?;
    assert_eq!(program.ask(&["status"])?["pid"], program.child.id());
    assert_eq!(reply(silent)?["error"], "the request did not come in time");
    program.run("call 1")?;
    program.end()
}

#[test]
fn the_socket_is_private_and_goes_with_the_program() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "", &[])?;
    let mode = |path: &Path| Ok::<u32, std::io::Error>(fs::metadata(path)?.permissions().mode() & 0o777);
    let socket = program.socket();
    let directory = socket.parent().context("a directory")?.to_owned();
    assert_eq!((mode(&directory)?, mode(&socket)?), (0o700, 0o600));
    let list = program.ctl(&["--json"])?.run_quietly()?;
    let list: Value = serde_json::from_slice(&list.stdout)?;
    ensure!(list.as_array().context("a list")?.iter().any(|one| one["pid"] == program.child.id()), "{list}");
    program.end()?;
    ensure!(!socket.exists(), "the socket is left");

    // A directory that others can use is not used.
    let open = tempfile::tempdir()?;
    fs::create_dir(open.path().join("instrument"))?;
    fs::set_permissions(open.path().join("instrument"), fs::Permissions::from_mode(0o755))?;
    let mut program = Program::start_in(open, &jre::newest()?, Some(""), &[])?;
    ensure!(program.stderr().contains("requests to this program are not answered: "), "{}", program.stderr());
    ensure!(program.stderr().contains("others may use it; its mode should be 0700"), "{}", program.stderr());
    let said = program.refused(&["status"])?;
    ensure!(said.contains("runs with the agent but does not answer"), "{said}");
    program.stdin = None;
    ensure!(program.child.wait()?.success());
    Ok(())
}

#[test]
fn a_socket_of_a_killed_program_is_replaced() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket").display().to_string();
    let options = format!("ctl={path}");
    let mut killed = Program::start(&jre::newest()?, &options, &[])?;
    let said = killed.ctl(&[&path, "status"])?.run_quietly()?;
    ensure!(String::from_utf8(said.stdout)?.contains(&format!("(pid {})", killed.pid())));
    killed.child.kill()?;
    killed.child.wait()?;
    ensure!(Path::new(&path).exists());
    let mut next = Program::start(&jre::newest()?, &options, &[])?;
    let status = next.ctl(&[&path, "status", "--json"])?.run_quietly()?;
    assert_eq!(serde_json::from_slice::<Value>(&status.stdout)?["pid"], next.child.id());
    // A third one does not take it from the living.
    let mut third = Program::start(&jre::newest()?, &options, &[])?;
    ensure!(third.stderr().contains("another process answers there"), "{}", third.stderr());
    third.stdin = None;
    third.child.wait()?;
    next.end()?;
    ensure!(!Path::new(&path).exists());

    // In the directory of the user, what is dead is not listed, and goes.
    let mut killed = Program::start(&jre::newest()?, "", &[])?;
    killed.child.kill()?;
    killed.child.wait()?;
    ensure!(killed.socket().exists());
    let list = killed.ctl(&["--json"])?.output()?;
    ensure!(!String::from_utf8(list.stdout)?.contains(&format!("\"pid\": {},", killed.pid())));
    ensure!(!killed.socket().exists());
    Ok(())
}

/// A process that is stopped accepts connections and never answers.
#[test]
fn stopped_programs_hold_up_nobody() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "", &[])?;
    let mut stopped = Program::start(&jre::newest()?, "", &[])?;
    let pid = stopped.pid();
    let signal = |name: &str| Command::new("kill").args([name, &pid]).run_quietly();
    let limit = Duration::from_secs(60);
    signal("-STOP")?;
    // One after the other, with the seconds that each has, they would take longer than the limit.
    for name in std::iter::once(pid.clone()).chain((1..=40).map(|n| (4_000_000_000_u32 + n).to_string())) {
        let beside = program.folder.path().join(format!("instrument/{name}.sock"));
        std::os::unix::fs::symlink(stopped.socket(), beside)?;
    }
    let list = program.ctl(&["--json"])?.capture_within(limit)?;
    let list: Value = serde_json::from_slice(&list.stdout)?;
    // Other programs of this user may be listed as well.
    let own = |row: &&Value| {
        let pid = row["pid"].as_u64().unwrap_or(0);
        pid > 4_000_000_000 || [program.child.id(), stopped.child.id()].map(u64::from).contains(&pid)
    };
    let rows: Vec<&Value> = list.as_array().context("a list")?.iter().filter(own).collect();
    assert_eq!(rows.len(), 42, "{list}");
    let row = |pid: u32| rows.iter().find(|row| row["pid"] == pid).context("a row");
    assert_eq!(row(program.child.id())?["recording"], "on");
    let said = row(stopped.child.id())?["error"].as_str().context("a reason")?;
    ensure!(
        said.starts_with("does not answer: the process is stopped") && said.contains("kill -CONT"),
        "{said}"
    );
    let text = String::from_utf8(stopped.ctl(&[])?.capture_within(limit)?.stdout)?;
    let mut rows = text.lines().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>());
    assert!(rows.any(|words| words == [&pid, "does", "not", "answer"]), "{text}");
    for request in ["status", "threads", "gc"] {
        let output = stopped.ctl(&[&pid, request])?.capture_within(limit)?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(
            output.status.code() == Some(1)
                && said.contains(&format!("process {pid}: does not answer: the process is stopped")),
            "{request}: {said}"
        );
    }
    signal("-CONT")?;
    assert_eq!(stopped.ask(&["status"])?["pid"], stopped.child.id());
    stopped.end()?;
    program.end()
}

#[test]
fn other_users_are_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let path = folder.path().join("socket").display().to_string();
    let mut program = Program::start(&jre::newest()?, &format!("ctl={path}"), &[])?;
    let binary = folder.path().join("instrument");
    fs::copy(subject::instrument()?, &binary)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    let call = |arguments: &[&str]| {
        Command::new(&binary).args(arguments).uid(65534).gid(65534).current_dir("/").output()
    };
    let Ok(refused) = call(&["ctl", &path, "pause"]) else {
        println!("not checked: only root can be another user");
        return program.end();
    };
    let said = String::from_utf8(refused.stderr)?;
    ensure!(
        refused.status.code() == Some(1) && said.contains("this program belongs to another user"),
        "{said}"
    );
    let said = String::from_utf8(call(&["ctl", &program.pid(), "pause"])?.stderr)?;
    ensure!(said.contains("belongs to another user (uid 0): only that user and root may ask it"), "{said}");
    assert_eq!(
        serde_json::from_slice::<Value>(&program.ctl(&[&path, "status", "--json"])?.run_quietly()?.stdout)?["recording"],
        "on"
    );
    program.end()
}

#[test]
fn a_process_that_cannot_be_reached_is_an_error_with_the_reason() -> Result<()> {
    let jre = jre::newest()?;
    let mut off = Program::start(&jre, "ctl=off", &[])?;
    ensure!(!off.socket().exists());
    ensure!(off.refused(&["status"])?.contains("it may be starting, or have the option ctl=off"));
    off.end()?;
    let mut plain = Program::start_in(tempfile::tempdir()?, &jre, None, &[])?;
    let said = plain.refused(&["status"])?;
    let cure = format!("runs without the agent: `instrument attach {}` brings it now", plain.pid());
    ensure!(said.contains(&cure), "{said}");
    ensure!(said.matches(&format!("process {}", plain.pid())).count() == 1, "{said}");
    let ctl = |arguments: &[&str]| plain.ctl(arguments)?.output().map_err(anyhow::Error::from);
    for (arguments, code, reason) in [
        (&["999999999", "status"][..], 1, "there is no process 999999999"),
        (&["main", "status"], 2, "main: neither a process id nor the path of a socket"),
        (&["status"], 2, "which process?"),
        (&["/nowhere/socket", "status"], 1, "/nowhere/socket: "),
        (&[&std::process::id().to_string(), "status"], 1, "is not a Java virtual machine"),
    ] {
        let output = ctl(arguments)?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(output.status.code() == Some(code) && said.contains(reason), "{arguments:?}: {said}");
    }
    plain.end()
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
    let path = iprof(&program)?.remove(0);
    let bytes = fs::read(path)?;
    let profile = Profile::parse(&bytes)?;
    let names = &profile.copies.values().next().context("a copy")?.class_names;
    let item = names.iter().find(|(_, name)| *name == "Asked$Item").context("the class")?;
    let mut items = 0;
    profile.for_each_object(&bytes.as_slice(), |object| items += u64::from(object.class == *item.0))?;
    assert_eq!(items, 3);
    Ok(())
}
