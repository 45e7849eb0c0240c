//! The agent where it is hard to be: programs that end badly, full machines, other agents. The program's output and exit code are what they
//! are without it, the profile can be read, and the counts balance.

use instrument_tests::shared;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::assembler::assemble;
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre};
use instrument_tests::machine::{Jdk, Run, join, root};
use instrument_tests::subject;

fn classes() -> PathBuf {
    shared::folder("agent-hard", |folder| {
        agent::compile(&["Program.java", "Hard.java"], 8, folder)?;
        Ok(())
    })
}

fn class_path() -> String {
    classes().display().to_string()
}

/// Runs the program as it is and with the agent. Output, exit code, and what is said must be the same; the latter run.
fn unchanged(jre: &Jre, options: &str, words: &[&str]) -> Result<Outcome> {
    let before = run(jre, words)?;
    let agent = option(options)?;
    let after = run(jre, &[&[agent.as_str()], words].concat())?;
    let case = format!("Java {}, {words:?}\n{}\n{}", jre.version, before.stderr, after.stderr);
    // A flight recorder on Java 11 prints its process id.
    let printed = |run: &Outcome| -> Vec<String> {
        let lines = run.stdout.lines().filter(|line| !line.starts_with("Use jcmd "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!((after.code, printed(&after)), (before.code, printed(&before)), "{case}");
    ensure!(!after.stderr.contains("instrument:"), "{case}");
    Ok(after)
}

/// Without frames, which only a virtual machine takes that does not verify; Java 25 verifies what an agent has changed all the same.
const WITHOUT_FRAMES: &str = r#"
class public super NoFrames
  version 52
  method public static main ([Ljava/lang/String;)V
    stack 2
    locals 1
    aload_0
    arraylength
    ifne end
    getstatic java/lang/System.out Ljava/io/PrintStream;
    ldc "no argument"
    invokevirtual java/io/PrintStream.println (Ljava/lang/String;)V
  end:
    invokestatic Straight.run ()V
    return
  end
class public super Straight
  version 52
  method public static run ()V
    stack 0
    locals 0
    return
  end
"#;

#[test]
fn classes_that_only_an_unverified_program_takes_run_as_before() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let [plain, changed] = ["plain", "changed"].map(|name| folder.path().join(name));
    fs::create_dir(&plain)?;
    for class in assemble(WITHOUT_FRAMES)? {
        fs::write(plain.join(format!("{}.class", class.name)), class.bytes)?;
    }
    subject::rewrite::<&str>(&plain, &changed, &[])?;
    let plain = plain.display().to_string();
    for jre in jre::all()? {
        let refused = run(&jre, &["-cp", &plain, "NoFrames"])?;
        ensure!(refused.stderr.contains("VerifyError"), "Java {}: {}", jre.version, refused.stderr);
        for (flag, path) in [(Some(option("")?), &plain), (None, &changed.display().to_string())] {
            let words = ["-Xverify:none", "-cp", path, "NoFrames"];
            let outcome = run(&jre, &flag.iter().map(String::as_str).chain(words).collect::<Vec<_>>())?;
            let case = format!("Java {}, {flag:?}: {}", jre.version, outcome.stderr);
            assert_eq!((outcome.code, &*outcome.stdout), (Some(0), "no argument\n"), "{case}");
            let methods = outcome.methods()?;
            ensure!(
                methods.keys().eq(["Straight.run"]) && methods["Straight.run"].entries == 1,
                "{case}: {methods:?}"
            );
        }
    }
    Ok(())
}

/// What a program overrides is called as often with everything recorded as without: the recorder calls no method of the program's objects.
#[test]
fn what_a_program_overrides_is_not_called_by_the_recorder() -> Result<()> {
    const TRANSFORMS: &str =
        "record=trace,transform=method-events:allocation:thread-links:hand-over:files:http:jdbc:waits";
    let folder = tempfile::tempdir()?;
    agent::compile(&["Overridden.java"], 8, folder.path())?;
    let services = folder.path().join("META-INF/services");
    fs::create_dir_all(&services)?;
    fs::write(services.join("java.nio.charset.spi.CharsetProvider"), "Overridden$Charsets\n")?;
    let path = folder.path().display().to_string();
    for jre in jre::all()? {
        for options in ["heap=objects,owners=all,threads=on", TRANSFORMS, "record=samples"] {
            let outcome = unchanged(&jre, options, &["-cp", &path, "Overridden"])?;
            assert!(outcome.stdout.contains("PROPERTIES 0\n"), "{}", outcome.stdout);
            assert!(outcome.stdout.contains("HASH_CODE 1\n"), "{}", outcome.stdout);
            assert_eq!(outcome.profiles(), 1);
        }
    }
    let rewritten = tempfile::tempdir()?;
    let transforms = "method-events,allocation,thread-links,hand-over,files";
    let mut rewrite = subject::call()?;
    rewrite
        .arg(folder.path())
        .args(["--transform", transforms, "-o"])
        .arg(rewritten.path().join("x"))
        .run_quietly()?;
    let rewritten = rewritten.path().join("x").display().to_string();
    let [jre, ..] = &jre::ends()?[..] else { unreachable!("there is one") };
    let outputs =
        [path, rewritten].map(|path| run(jre, &["-cp", &path, "Overridden"]).map(|outcome| outcome.stdout));
    let [bare, recorded] = outputs;
    assert_eq!(recorded?, bare?);
    Ok(())
}

#[test]
fn bad_ends_are_the_same() -> Result<()> {
    let path = class_path();
    let ends = [
        (&[][..], "exits", 7),
        (&[], "uncaught", 1),
        (&["-Xmx24m"], "heap", 1),
        (&["-Xmx24m", "-XX:+ExitOnOutOfMemoryError"], "heap", 3),
        (&["-Xmx16m"], "caught", 0),
        (&["-XX:MaxMetaspaceSize=24m"], "metaspace", 0),
        (&[], "daemon", 0),
    ];
    for (jre, (flags, word, code)) in jre::each(&jre::ends()?, &ends) {
        let words = [flags, &["-cp", &path, "Hard", word]].concat();
        let outcome = unchanged(&jre, "", &words)?;
        assert_eq!(outcome.code, Some(code), "Java {}, {words:?}: {}", jre.version, outcome.stderr);
        let methods = outcome.methods()?;
        ensure!(methods["Hard.work"].entries >= 1000, "Java {}, {words:?}", jre.version);
    }
    Ok(())
}

#[test]
fn crowds_leave_everything() -> Result<()> {
    let path = class_path();
    // Ten thousand take a quarter of an hour on a busy machine, and what runs beside them as well.
    let crowd = if Corpus::full() { 10_000 } else { 1_000 };
    for jre in jre::ends()? {
        let outcome = unchanged(&jre, "", &["-cp", &path, "Hard", "threads", &crowd.to_string()])?;
        // The main thread has a thousand calls of its own.
        assert_eq!((outcome.code, outcome.methods()?["Hard.work"].entries), (Some(0), crowd + 1_000));
        // Ten times as many classes as fit at one time.
        let flags = ["-XX:MaxMetaspaceSize=48m", "-cp", &path, "Hard", "loaders", "1000"];
        let outcome = unchanged(&jre, "", &flags)?;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "done\n"), "{}", outcome.stderr);
        assert_eq!(outcome.methods()?["Hard$Copied.run"].entries, 1000, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn children_are_left_alone() -> Result<()> {
    for jre in jre::ends()? {
        let outcome = unchanged(&jre, "", &["-cp", &class_path(), "Hard", "children", "2"])?;
        assert_eq!((outcome.code, outcome.profiles()), (Some(0), 1), "Java {}", jre.version);
        // All of them, if they are requested.
        let mut java = jre.java();
        java.env("JAVA_TOOL_OPTIONS", option("")?).args(["-cp", &class_path(), "Hard", "children", "2"]);
        let outcome = agent::finish(java)?;
        assert_eq!((outcome.code, outcome.profiles()), (Some(0), 3), "{}", outcome.stderr);
        assert_eq!(outcome.methods()?["Hard.work"].entries, 3000, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn virtual_machines_of_every_kind() -> Result<()> {
    let path = class_path();
    let machines = jre::ends()?;
    let of_all = [
        &["-Xint"][..],
        &["-Xverify:all", "-Xcheck:jni"],
        &["-XX:-UseCompressedOops", "-XX:+UseSerialGC"],
        &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC", BOTH_COMPILERS],
        &["-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1", "-Xss256k"],
        &["-XX:StartFlightRecording=filename=recording.jfr", "-Xlog:disable"],
    ];
    let of_some = machines.iter().map(|jre| {
        (
            jre.clone(),
            if jre.version <= 17 { &["-Djava.security.manager"][..] } else { &["-Xcomp", BOTH_COMPILERS] },
        )
    });
    for (jre, flags) in jre::each(&machines, &of_all).into_iter().chain(of_some) {
        let words = [flags, &["-cp", &path, "Program"]].concat();
        let outcome = unchanged(&jre, "", &words)?;
        assert_eq!(outcome.code, Some(0), "Java {}, {flags:?}: {}", jre.version, outcome.stderr);
        ensure!(!outcome.stderr.contains("in native method"), "{}", outcome.stderr);
        let methods = outcome.methods()?;
        let entries = ["make", "fibonacci", "locked"].map(|m| methods[&format!("Program.{m}")].entries);
        assert_eq!(entries, [1000, 1973, 2000], "Java {}, {flags:?}", jre.version);
    }
    Ok(())
}

/// Starts `Hard` with the agent and waits until it says that it is ready.
fn ready(jre: &Jre, folder: &Path, mode: &str) -> Result<(std::process::Child, impl Read)> {
    let words = [option("")?, "-cp".into(), class_path(), "Hard".into(), mode.into()];
    let mut child = jre.java().current_dir(folder).args(words).stdout(Stdio::piped()).spawn()?;
    let mut stdout = BufReader::new(child.stdout.take().context("a pipe")?);
    let mut line = String::new();
    stdout.read_line(&mut line)?;
    assert_eq!(line, "ready\n");
    Ok((child, stdout))
}

#[test]
fn signals_and_tools_do_no_harm() -> Result<()> {
    for (jre, mode) in jre::each(&jre::ends()?, &["busy", "deadlock"]) {
        let folder = tempfile::tempdir()?;
        let (mut child, mut stdout) = ready(&jre, folder.path(), mode)?;
        let process = child.id().to_string();
        let jcmd = jre.home.join("bin/jcmd");
        for tool in ["Thread.print", "GC.class_histogram", "VM.system_properties"] {
            if jcmd.exists() {
                let said = Command::new(&jcmd).args([&process, tool]).run_quietly()?;
                ensure!(!said.stdout.is_empty(), "{tool}");
            }
        }
        // A thread dump, as profilers' signals in the middle of anything.
        for _ in 0..20 {
            Command::new("kill").args(["-QUIT", &process]).run_quietly()?;
            std::thread::sleep(Duration::from_millis(10));
        }
        Command::new("kill").args(["-TERM", &process]).run_quietly()?;
        let mut dumps = String::new();
        stdout.read_to_string(&mut dumps)?;
        assert_eq!(child.wait()?.code(), Some(143), "Java {}, {mode}", jre.version);
        ensure!(dumps.contains("Full thread dump"), "Java {}, {mode}: {dumps}", jre.version);
        let methods = subject::profile(folder.path())?;
        ensure!(subject::entries_of(&methods, "Hard.work") >= 1000, "Java {}, {mode}", jre.version);
    }
    Ok(())
}

#[test]
fn other_agents_may_come_before_and_behind() -> Result<()> {
    let path = class_path();
    let jacoco = Corpus::open()?.path("jacoco-agent")?.display().to_string();
    let jacoco = format!("-javaagent:{jacoco}=destfile=coverage.exec");
    let ours = option("")?;
    for (jre, order) in jre::each(&jre::ends()?, &[[&jacoco, &ours], [&ours, &jacoco]]) {
        let before = run(&jre, &["-cp", &path, "Program"])?;
        let [first, second] = order.map(String::as_str);
        let outcome = run(&jre, &[first, second, "-cp", &path, "Program"])?;
        let case = format!("Java {}, {first}: {}", jre.version, outcome.stderr);
        assert_eq!((outcome.code, &outcome.stdout), (Some(0), &before.stdout), "{case}");
        ensure!(outcome.stderr.is_empty(), "{case}");
        let methods = outcome.methods()?;
        assert_eq!(methods["Program.fibonacci"].entries, 1973, "{case}");
        assert_eq!(methods["Program$Item.<init>"].aborted, 125, "{case}");
        let coverage = fs::metadata(outcome.folder.path().join("coverage.exec"))?;
        ensure!(coverage.len() > 100, "{case}");
    }
    Ok(())
}

#[test]
fn mocks_of_final_classes_work() -> Result<()> {
    let (corpus, folder) = (Corpus::open()?, tempfile::tempdir()?);
    let names = ["mockito", "bytebuddy", "bytebuddy-agent", "objenesis"];
    let jars = names.iter().map(|name| corpus.path(name)).collect::<Result<Vec<PathBuf>>>()?;
    let kit = Jdk::default_kit()?;
    let mut javac = kit.tool("javac");
    javac.args(["-Xlint:-options", "--release", "11", "-d"]).arg(folder.path()).arg("-cp").arg(join(&jars));
    javac.arg(root().join("tests/java/agent/containers/Agents.java")).run_quietly()?;
    let path = join(&[&[folder.path().to_path_buf()][..], &jars].concat());
    // They attach to themselves, which takes a kit; this Byte Buddy knows none that is newer.
    let machines: Vec<Jre> =
        jre::all()?.into_iter().filter(|jre| jre.home.join("bin/jcmd").exists()).collect();
    // Everything is recorded where the long run is.
    let options = if Corpus::full() { &["", "include=Agents*"][..] } else { &["include=Agents*"] };
    for (jre, options) in jre::each(&machines, options) {
        if options.is_empty() && jre.version != 17 {
            continue;
        }
        let words = [
            "-Dnet.bytebuddy.experimental=true",
            "-Djdk.attach.allowAttachSelf=true",
            "-cp",
            &path,
            "Agents",
        ];
        let outcome = unchanged(&jre, options, &words)?;
        assert_eq!(outcome.code, Some(0), "Java {}: {}", jre.version, outcome.stderr);
        let methods = outcome.methods()?;
        assert_eq!(methods["Agents.main"].entries, 1, "Java {}", jre.version);
        ensure!(methods["Agents$Closed.twice"].entries >= 3, "Java {}: {methods:?}", jre.version);
    }
    Ok(())
}

#[test]
fn places_with_names_of_all_kinds() -> Result<()> {
    let work = tempfile::tempdir()?;
    let odd = work.path().join("a b, 'c' = \u{e4}\u{20ac} \\ d");
    fs::create_dir(&odd)?;
    let path = odd.display().to_string();
    let value = path.replace('\\', "\\\\").replace(',', "\\,");
    for jre in jre::ends()? {
        let mut java = jre.java();
        java.env("LC_ALL", "C.UTF-8")
            .args([option(&format!("out={value}/,report={value}/report"))?.as_str()]);
        let outcome = agent::finish({
            java.args(["-cp", &class_path(), "Program"]);
            java
        })?;
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "Java {}", jre.version);
        let methods = subject::profile(&odd)?;
        ensure!(subject::entries_of(&methods, "Program.make") >= 1000, "Java {}", jre.version);
        ensure!(odd.join("report").exists());
    }
    // The library itself, from the command line.
    // A path with `=` is refused: java takes what follows for options.
    let folder = PathBuf::from(odd.display().to_string().replace('=', "-"));
    fs::create_dir_all(&folder)?;
    let library = folder.join(agent::library()?.file_name().context("a name")?);
    fs::copy(agent::library()?, &library)?;
    let java = Jdk::default_kit()?.home.join("bin/java").display().to_string();
    for words in
        [vec![java.clone()], vec!["sh".into(), "-c".into(), format!("exec {java} \"$@\""), "x".into()]]
    {
        let mut command = subject::call()?;
        command
            .env("LC_ALL", "C.UTF-8")
            .arg("run")
            .arg("--agent")
            .arg(&library)
            .arg("-o")
            .arg(&odd)
            .arg("--");
        command.args(words).args(["-cp", &class_path(), "Program"]);
        let outcome = agent::finish(command)?;
        ensure!(outcome.code == Some(0) && outcome.stderr.contains("profile: "), "{}", outcome.stderr);
    }
    Ok(())
}

#[test]
fn where_nothing_can_be_written_the_program_runs() -> Result<()> {
    let path = class_path();
    for (jre, (options, said)) in jre::each(
        &jre::ends()?,
        &[
            ("out=/proc/nothing/", "cannot create the profile, nothing is recorded: "),
            ("limit=40k", "the limit of 40960 bytes is reached"),
        ],
    ) {
        let before = run(&jre, &["-cp", &path, "Program"])?;
        let after = run(&jre, &[&option(options)?, "-cp", &path, "Program"])?;
        assert_eq!((after.code, &after.stdout), (Some(0), &before.stdout), "{options}");
        let lines: Vec<&str> = after.stderr.lines().collect();
        ensure!(lines.len() == 1 && lines[0].contains(said), "{options}: {lines:?}");
    }
    // Root may write everywhere: only others find a folder that cannot be written to.
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555))?;
    let jre = jre::all()?.remove(0);
    let words = [option("")?, "-cp".into(), path, "Program".into()];
    let output = jre.java().current_dir(folder.path()).args(words).capture()?;
    assert_eq!((output.status.code(), output.stdout.len() > 5), (Some(0), true));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    Ok(())
}
