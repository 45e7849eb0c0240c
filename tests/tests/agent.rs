//! The load-time door on real virtual machines: programs run as before, and the profile is that of the static door.

use instrument_tests::shared;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::IdMap;
use instrument_tests::agent::{self, Outcome, finish, option, run};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject::{self, MethodCounts};
use instrument_trace::Profile;

/// The programs of `tests/java/agent`, compiled.
fn classes() -> PathBuf {
    shared::folder("agent", |folder| {
        let names = [
            "Program.java",
            "Loaders.java",
            "Loading.java",
            "Collections.java",
            "Deep.java",
            "Intrinsics.java",
        ];
        agent::compile(&names, 8, folder)?;
        Ok(())
    })
}

fn class_path() -> String {
    classes().display().to_string()
}

/// Entries, exits, unwinds, aborted and open calls by method.
fn counts(methods: &BTreeMap<String, MethodCounts>) -> BTreeMap<String, [u64; 5]> {
    let row = |m: &MethodCounts| [m.entries, m.exits, m.unwinds, m.aborted, m.open];
    methods.iter().map(|(name, method)| (name.clone(), row(method))).collect()
}

/// One jar of the classes whose names begin with `prefixes`.
fn jar(prefixes: &[&str], path: &Path) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(classes())?
        .map(|e| Ok(e?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.retain(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)));
    names.sort();
    Jdk::default_kit()?.tool("jar").current_dir(classes()).arg("cf").arg(path).args(&names).run_quietly()?;
    Ok(())
}

#[test]
fn a_program_runs_as_before_and_is_counted_as_by_the_static_door() -> Result<()> {
    let work = tempfile::tempdir()?;
    let (plain, rewritten) = (work.path().join("a.jar"), work.path().join("b.jar"));
    jar(&["Program"], &plain)?;
    subject::rewrite::<&str>(&plain, &rewritten, &[])?;
    for jre in jre::all()? {
        let before = run(&jre, &["-cp", &class_path(), "Program"])?;
        let after = run(&jre, &["-Xcheck:jni", &option("")?, "-cp", &class_path(), "Program"])?;
        let case = format!("Java {}", jre.version);
        ensure!(before.code == Some(0), "{}", before.stderr);
        assert_eq!(
            (after.code, &after.stdout, after.stderr.as_str()),
            (Some(0), &before.stdout, ""),
            "{case}"
        );
        let by_agent = counts(&after.methods()?);
        let by_rewriting = run(&jre, &["-cp", &rewritten.display().to_string(), "Program"])?;
        assert_eq!(by_agent, counts(&by_rewriting.methods()?), "{case}");
        assert_eq!(by_agent["Program.fibonacci"], [1973, 1973, 0, 0, 0], "{case}");
        assert_eq!(by_agent["Program$Item.<init>"], [1000, 875, 0, 125, 0], "{case}");
        assert_eq!(by_agent["Program$Base.<init>"], [1000, 875, 125, 0, 0], "{case}");
    }
    Ok(())
}

#[test]
fn every_way_out_leaves_everything() -> Result<()> {
    for (jre, (how, code)) in jre::each(&jre::all()?, &[("exit", 7), ("halt", 7), ("overflow", 0)]) {
        let arguments = ["-cp", &class_path(), "Program", how];
        let before = run(&jre, &arguments)?;
        let agent = option("")?;
        let after = run(&jre, &[&[agent.as_str(), "-Xss1m"][..], &arguments].concat())?;
        assert_eq!((after.code, &after.stdout), (Some(code), &before.stdout), "{how}: {}", after.stderr);
        let methods = after.methods()?;
        assert_eq!(methods["Program.make"].entries, 1000, "{how}");
        assert_eq!(methods["Program.main"].open, u64::from(how != "overflow"), "{how}");
    }
    Ok(())
}

#[test]
fn the_same_ids_give_the_same_bytes_as_the_static_door() -> Result<()> {
    let work = tempfile::tempdir()?;
    let path = |name: &str| work.path().join(name);
    let ecj = Corpus::open()?.path("ecj")?;
    let transforms = "method-events,allocation";
    let ids = path("shared.ids").display().to_string();
    let static_door = ["--strip-signatures", "--transform", transforms, "--ids", &ids];
    subject::rewrite(&ecj, &path("out.jar"), &static_door)?;
    let known = fs::read(&ids)?;
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let options = format!("transform=method-events:allocation,ids={ids},dump={}", path("dump").display());
    let source = classes().parent().context("a folder")?.join("A.java");
    fs::write(&source, "class A { int f(java.util.List<String> l) { return l.size(); } }")?;
    let run = run(
        &jre,
        &[
            &option(&options)?,
            "-cp",
            &ecj.display().to_string(),
            "org.eclipse.jdt.internal.compiler.batch.Main",
            "-8",
            "-d",
            "none",
            &source.display().to_string(),
        ],
    )?;
    ensure!(run.code == Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(fs::read(&ids)?, known, "nothing is new to the map");
    let mut archive = zip::ZipArchive::new(fs::File::open(path("out.jar"))?)?;
    let mut compared = 0;
    for file in walkdir::WalkDir::new(path("dump")) {
        let file = file?;
        if file.file_type().is_file() {
            let name = file.path().strip_prefix(path("dump"))?.to_string_lossy().into_owned();
            // What the virtual machine does there is timed under the agent only.
            if ["java/lang/ClassLoader.class", "java/lang/invoke/MethodHandleNatives.class"].contains(&&*name)
            {
                continue;
            }
            let mut expected = Vec::new();
            archive.by_name(&name)?.read_to_end(&mut expected)?;
            ensure!(fs::read(file.path())? == expected, "{name} differs");
            compared += 1;
        }
    }
    ensure!(compared > 200, "only {compared} classes");
    Ok(())
}

#[test]
fn runs_share_a_file_of_ids() -> Result<()> {
    let work = tempfile::tempdir()?;
    let ids = work.path().join("ids");
    let options = format!("ids={}", ids.display());
    let jre = jre::all()?.remove(0);
    let both = std::thread::scope(|scope| {
        let start = |main: &'static str| {
            let (jre, options) = (&jre, &options);
            scope.spawn(move || run(jre, &[&option(options)?, "-cp", &class_path(), main]))
        };
        let runs = [start("Program"), start("Collections")];
        runs.map(|run| run.join().expect("no panic"))
    });
    for outcome in both {
        outcome?.methods()?;
    }
    let map = IdMap::parse(&fs::read(&ids)?)?;
    ensure!(map.find(b"Program", b"fibonacci", b"(I)I").is_some(), "Program is not in the map");
    ensure!(map.find(b"Collections", b"main", b"([Ljava/lang/String;)V").is_some(), "Collections is not");
    ensure!(map.iter().map(|entry| entry.id).eq(1..=map.len() as u32), "ids are not dense");
    let before = fs::read(&ids)?;
    run(&jre, &[&option(&options)?, "-cp", &class_path(), "Program"])?;
    assert_eq!(fs::read(&ids)?, before);
    Ok(())
}

/// A process that keeps the lock of the shared file holds up no program: it runs on with ids of its own.
#[test]
fn a_file_of_ids_that_stays_locked_is_not_waited_for_without_end() -> Result<()> {
    let work = tempfile::tempdir()?;
    let ids = work.path().join("ids");
    let file = fs::File::create(&ids)?;
    file.lock()?;
    let jre = jre::all()?.remove(0);
    let mut java = jre.java();
    java.args([&option(&format!("ids={}", ids.display()))?, "-cp", &class_path(), "Program"]);
    let outcome = agent::finish_within(java, Duration::from_secs(120))?;
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    ensure!(
        matches!(lines[..], [line] if line.contains("another process has kept this file locked for 10 s")),
        "{lines:?}"
    );
    let plain = run(&jre, &[&option("")?, "-cp", &class_path(), "Program"])?;
    assert_eq!(counts(&outcome.methods()?), counts(&plain.methods()?));
    assert_eq!(fs::read(&ids)?, b"");
    Ok(())
}

#[test]
fn a_jar_that_was_rewritten_before_is_left_alone_and_counted_once() -> Result<()> {
    let work = tempfile::tempdir()?;
    let (plain, rewritten) = (work.path().join("a.jar"), work.path().join("b.jar"));
    let others = work.path().join("others.jar");
    jar(&["Program"], &plain)?;
    jar(&["Loaders"], &others)?;
    subject::rewrite::<&str>(&plain, &rewritten, &[])?;
    for jre in jre::all()? {
        let alone = run(&jre, &["-cp", &rewritten.display().to_string(), "Program"])?;
        let mut alone = counts(&alone.methods()?);
        let expected = |outcome: &Outcome, what: &str| -> Result<BTreeMap<String, [u64; 5]>> {
            ensure!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{what}: {}", outcome.stderr);
            assert_eq!(outcome.profiles(), 1, "{what}");
            let methods = counts(&outcome.methods()?);
            ensure!(methods.keys().all(|name| !name.starts_with('#')), "{what}: {methods:?}");
            Ok(methods)
        };
        let outcome = run(&jre, &[&option("")?, "-cp", &rewritten.display().to_string(), "Program"])?;
        assert_eq!(expected(&outcome, "parent first")?, alone, "Java {}", jre.version);

        // The loader has the runtime of the jar and does not ask its parents.
        let arguments = ["-cp", &others.display().to_string(), "Loaders", "child-first", "Program"];
        let program = [rewritten.display().to_string()];
        let agent = option("")?;
        let words: Vec<&str> =
            [agent.as_str()].into_iter().chain(arguments).chain([program[0].as_str()]).collect();
        // Methods of the JDK that wait are called by Loaders as well.
        alone.retain(|name, _| name.starts_with("Program"));
        let mut methods = expected(&run(&jre, &words)?, "child first, rewritten")?;
        methods.retain(|name, _| name.starts_with("Program"));
        assert_eq!(methods, alone, "Java {}", jre.version);

        // The loader has no runtime at all.
        let program = plain.display().to_string();
        let words: Vec<&str> =
            [agent.as_str()].into_iter().chain(arguments).chain([program.as_str()]).collect();
        let mut methods = expected(&run(&jre, &words)?, "child first, plain")?;
        ensure!(methods.contains_key("Loaders$ChildFirst.loadClass"), "{methods:?}");
        methods.retain(|name, _| name.starts_with("Program"));
        assert_eq!(methods, alone, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn a_named_module_is_rewritten() -> Result<()> {
    let work = tempfile::tempdir()?;
    let names = ["module/module-info.java", "module/agent/module/api/Main.java"];
    let modules = agent::compile(&names, 11, work.path())?.display().to_string();
    for jre in jre::all()? {
        let main = "agent.module/agent.module.api.Main";
        let outcome = run(&jre, &[&option("")?, "-p", &modules, "-m", main])?;
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("agent.module 90\n", ""));
        let methods = outcome.methods()?;
        assert_eq!(methods["agent.module.api.Main.twice"].entries, 10, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn hidden_and_generated_classes_stay_as_they_are_and_are_named() -> Result<()> {
    let work = tempfile::tempdir()?;
    let folder = agent::compile(&["Hidden.java"], 17, work.path())?.display().to_string();
    for jre in jre::all()?.into_iter().filter(|jre| jre.version >= 17) {
        let outcome = run(&jre, &[&option("account=account.jsonl")?, "-cp", &folder, "Hidden"])?;
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("true\nfalse\n", ""));
        let account = fs::read_to_string(outcome.folder.path().join("account.jsonl"))?;
        let hidden = r#"{"kind":"class","class":"Hidden$Body","outcome":"skipped","reason":"hidden"}"#;
        ensure!(account.lines().any(|line| line == hidden), "Java {}: {account}", jre.version);
        let report = subject::call()?.args(["report", "-v"]).args(outcome.profile()).run_quietly()?;
        let report = String::from_utf8(report.stdout)?;
        let line = "left out    1 hidden class, the first is Hidden$Body: the virtual machine shows them to no agent\n";
        ensure!(report.contains(line), "Java {}: {report}", jre.version);
        assert_eq!(outcome.methods()?["Hidden$Body.run"].entries, 1);
    }
    for jre in jre::all()? {
        let outcome = run(&jre, &[&option("report=report.jsonl")?, "-cp", &class_path(), "Program"])?;
        let report = fs::read_to_string(outcome.folder.path().join("report.jsonl"))?;
        let line = report.lines().find(|line| line.contains("$Proxy")).context("no proxy was seen")?;
        ensure!(line.contains(r#""outcome":"excluded","reason":"generated""#), "{line}");
        ensure!(report.contains(r#""class":"Program$Item","method":"compareTo""#), "{report}");
        ensure!(!outcome.methods()?.keys().any(|name| name.contains("$Proxy")), "a proxy was counted");
    }
    Ok(())
}

#[test]
fn classes_that_were_loaded_before_the_agent_was_called_are_recorded_or_named() -> Result<()> {
    let work = tempfile::tempdir()?;
    agent::compile(&["Before.java"], 8, work.path())?;
    fs::write(work.path().join("manifest"), "Premain-Class: Before\n")?;
    let words = ["cfm", "before.jar", "manifest", "Before.class", "Before$Loaded.class"];
    Jdk::default_kit()?.tool("jar").current_dir(work.path()).args(words).run_quietly()?;
    let (jar, folder) =
        (work.path().join("before.jar").display().to_string(), work.path().display().to_string());
    for (jre, first) in jre::each(
        &jre::ends()?,
        &[format!("-javaagent:{jar}"), "-Djava.system.class.loader=Before".to_owned()],
    ) {
        for options in ["calibrate=off", "calibrate=off,transform=allocation", "calibrate=off,early=on"] {
            let outcome = run(&jre, &[&first, &option(options)?, "-cp", &folder, "Before"])?;
            let case = format!("Java {}, {first}, {options}: {}", jre.version, outcome.stderr);
            assert_eq!((outcome.code, outcome.stdout.lines().last()), (Some(0), Some("90")), "{case}");
            ensure!(!outcome.stderr.contains("stay"), "{case}");
            if options.contains("transform") {
                continue;
            }
            let methods = outcome.methods()?;
            let entries = |name: &str| methods.get(name).map_or(0, |method| method.entries);
            // Classes of another agent run while classes load: they stay as they are, unless all are rewritten from the first one on.
            let recorded = first.starts_with("-D") || options.contains("early");
            let expected = if recorded { (1, 10) } else { (0, 0) };
            assert_eq!((entries("Before.main"), entries("Before$Loaded.twice")), expected, "{case}");
            assert_eq!(entries("Before$Later.zero"), 1, "{case}");
            let path = outcome.profile().next().context("no profile")?;
            let profile = Profile::open(&fs::File::open(path)?)?;
            let properties = &profile.copies.values().next().context("no copy")?.properties;
            let left = properties.get("before-agent.classes").map(String::as_str);
            assert_eq!(left, (!recorded).then_some("2"), "{case}");
        }
    }
    Ok(())
}

#[test]
fn classes_of_other_agents_are_not_the_program() -> Result<()> {
    let work = tempfile::tempdir()?;
    agent::compile(&["Helping.java", "Helped.java"], 11, work.path())?;
    let folder = work.path().join("a folder");
    fs::create_dir(&folder)?;
    fs::write(work.path().join("manifest"), "Premain-Class: Helping\nAgent-Class: Helping\n")?;
    let jar = folder.join("helping.jar").display().to_string();
    let names = ["Helping.class", "Helping$Near.class", "Helping$Apart.class"];
    let mut tool = Jdk::default_kit()?.tool("jar");
    tool.current_dir(work.path()).args(["cfm", &jar, "manifest"]).args(names).run_quietly()?;
    let program = work.path().join("program");
    fs::create_dir(&program)?;
    fs::rename(work.path().join("Helped.class"), program.join("Helped.class"))?;
    let program = program.display().to_string();
    let other = format!("-javaagent:{jar}=words=1");
    let attach = "-Djdk.attach.allowAttachSelf=true";
    let ours = option("calibrate=off")?;
    let asked = option("calibrate=off,include=Help**")?;
    let with = format!("{program}:{jar}");
    let no_agent = (None, Some("3"));
    // The options of the virtual machine, the program's words, and what is expected of the agent's classes.
    let cases = [
        (vec![&*ours, &*other, "-cp", &*program], vec![], no_agent),
        (vec![&*other, &*ours, "-cp", &*program], vec![], (None, None)),
        (vec![&*ours, attach, "-cp", &*program], vec![&*jar], no_agent),
        (vec![&*asked, &*other, "-cp", &*program], vec![], (Some(2), None)),
        // What is on the class path is the program's, whoever uses it beside.
        (vec![&*ours, &*other, "-cp", &*with], vec![], (Some(2), None)),
    ];
    let machines: Vec<Jre> =
        jre::all()?.into_iter().filter(|jre| jre.home.join("bin/jcmd").exists()).collect();
    for (jre, (options, words, recorded)) in jre::each(&machines, &cases) {
        let outcome = run(&jre, &[&options[..], &["Helped"], &words[..]].concat())?;
        let case = format!("Java {}, {options:?} {words:?}: {}", jre.version, outcome.stderr);
        assert_eq!((outcome.code, &*outcome.stdout), (Some(0), "helped helping.jar 1\n"), "{case}");
        let methods = outcome.methods()?;
        let entries = |name: &str| methods.get(name).map(|method| method.entries);
        assert_eq!(entries("Helped.own"), Some(10), "{case}");
        assert_eq!(entries("Helping$Near.one"), recorded.0, "{case}");
        let path = outcome.profile().next().context("no profile")?;
        let profile = Profile::open(&fs::File::open(path)?)?;
        let properties = &profile.copies.values().next().context("no copy")?.properties;
        assert_eq!(properties.get("of-agent.classes").map(String::as_str), recorded.1, "{case}");
    }
    Ok(())
}

#[test]
fn classes_of_the_jdk_are_rewritten_if_they_are_named() -> Result<()> {
    for jre in jre::all()? {
        let before = run(&jre, &["-cp", &class_path(), "Collections"])?;
        for include in ["java.util.**:Collections", "java.**:javax.**:jdk.**:sun.**:Collections"] {
            let agent = option(&format!("include={include},transform=method-events:allocation"))?;
            let outcome = run(&jre, &["-Xcheck:jni", &agent, "-cp", &class_path(), "Collections"])?;
            let case = format!("Java {}, {include}: {}", jre.version, outcome.stderr);
            // Checked JNI has complaints of its own about some JDKs.
            assert_eq!((outcome.code, &outcome.stdout), (Some(0), &before.stdout), "{case}");
            ensure!(!outcome.stderr.contains("instrument:"), "{case}");
            let methods = outcome.methods()?;
            ensure!(methods["java.util.ArrayList.add"].entries >= 20_000, "{case}");
            ensure!(methods["java.util.HashMap.put"].entries >= 12_250, "{case}");
            ensure!(!methods.keys().any(|name| name.starts_with("java.lang.")), "{case}");
        }
        let outcome = run(
            &jre,
            &[&option("include=**,transform=method-events")?, "-cp", &class_path(), "Collections"],
        )?;
        ensure!(
            outcome.methods()?.keys().all(|name| name.starts_with("Collections.")),
            "`**` is the program"
        );
    }
    Ok(())
}

/// Once its caller is compiled, a call of these does not reach the code of the method: of a million there were some hundred thousand.
#[test]
fn methods_in_whose_place_the_compiler_puts_its_own_code_are_left() -> Result<()> {
    for jre in jre::all()? {
        let agent = option("include=java.util.Arrays:Intrinsics,record=counts")?;
        let outcome = run(&jre, &[&agent, BOTH_COMPILERS, "-cp", &class_path(), "Intrinsics"])?;
        let case = format!("Java {}: {}", jre.version, outcome.stderr);
        ensure!(outcome.stdout == "10000000\n", "{case}{}", outcome.stdout);
        let methods = outcome.methods()?;
        let entries = |name: &str| methods.get(name).map_or(0, |method| method.entries);
        ensure!(entries("Intrinsics.compare") == 1_000_000, "{case}");
        ensure!(entries("java.util.Arrays.fill") == 2_000_000, "{case}{}", entries("java.util.Arrays.fill"));
        // Others of these names are called at the start.
        for name in ["java.util.Arrays.equals", "java.util.Arrays.copyOf"] {
            ensure!(entries(name) < 1000, "{case}{name}: {}", entries(name));
        }
        let report = subject::call()?.args(["report", "-v"]).args(outcome.profile()).run_quietly()?;
        let report = String::from_utf8(report.stdout)?;
        let line = report.lines().find(|line| line.contains(" methods of the JDK, the first is "));
        ensure!(
            line.is_some_and(
                |line| line.starts_with("left out ") && line.contains(" java.util.Arrays.copyOf(")
            ),
            "{case}{report}"
        );
    }
    Ok(())
}

#[test]
fn class_data_sharing_stays_on() -> Result<()> {
    for jre in jre::all()? {
        // Refuses to start if it cannot share.
        let sharing = ["-Xshare:on", "-cp", &class_path(), "Collections"];
        if run(&jre, &sharing)?.code != Some(0) {
            println!("not checked: Java {} has no archive", jre.version);
            continue;
        }
        let agent = option("")?;
        let outcome = run(&jre, &[&[agent.as_str()][..], &sharing].concat())?;
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "Java {}", jre.version);
        outcome.methods()?;
    }
    Ok(())
}

#[test]
fn class_loaders_are_collected() -> Result<()> {
    for jre in jre::all()? {
        let outcome =
            run(&jre, &["-Xmx64m", &option("")?, "-cp", &class_path(), "Loaders", "collected", "1000"])?;
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("1000 collected\n", ""));
        assert_eq!(outcome.methods()?["Loaders$Copied.run"].entries, 1000, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn classes_may_load_where_hardly_any_stack_is_left() -> Result<()> {
    for (jre, flags) in jre::each(&jre::all()?, &[&["-Xss400k"][..], &["-Xss1m", "-Xint"]]) {
        let agent = option("")?;
        let path = class_path();
        let words = [&[agent.as_str()][..], flags, &["-cp", &path, "Deep"]].concat();
        let outcome = run(&jre, &words)?;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "done\n"), "{}", outcome.stderr);
        let methods = outcome.methods()?;
        ensure!(methods.keys().all(|name| !name.starts_with('#')), "Java {}: {methods:?}", jre.version);
    }
    Ok(())
}

#[test]
fn a_program_that_runs_is_joined() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.home.join("bin/jcmd").exists()) {
        let folder = tempfile::tempdir()?;
        let mut child = jre
            .java()
            .current_dir(folder.path())
            .args(["-cp", &class_path(), "Loading"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut line)?;
        let library = agent::library()?.display().to_string();
        let process = child.id().to_string();
        let mut jcmd = Command::new(jre.home.join("bin/jcmd"));
        let said = jcmd.args([&process, "JVMTI.agent_load", &library, "\"name=joined\""]).run_quietly()?;
        ensure!(String::from_utf8_lossy(&said.stdout).contains("return code: 0"), "{said:?}");
        // `define` was loaded long ago, the others come now.
        let names = ["Loading$Definer.define", "Loading$Template"];
        let recorded = subject::wait_for_entries(folder.path(), &names);
        child.kill()?;
        child.wait()?;
        recorded?;
        let methods = subject::profile(folder.path())?;
        for name in names {
            ensure!(subject::entries_of(&methods, name) > 0, "Java {}: {name}: {methods:?}", jre.version);
        }
    }
    Ok(())
}

#[test]
fn a_killed_program_has_lost_no_name() -> Result<()> {
    let jres = jre::all()?;
    for round in 0..8u64 {
        let jre = &jres[round as usize % jres.len()];
        let folder = tempfile::tempdir()?;
        let mut child = jre
            .java()
            .current_dir(folder.path())
            .args([&option("")?, "-cp", &class_path(), "Loading"])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut line)?;
        assert_eq!(line, "ready\n");
        std::thread::sleep(Duration::from_millis(100 + 70 * round));
        child.kill()?;
        child.wait()?;
        let methods = subject::profile(folder.path())?;
        let nameless: Vec<_> = methods.iter().filter(|method| method.name.starts_with('#')).collect();
        ensure!(nameless.is_empty(), "round {round}: {nameless:?}");
        ensure!(methods.iter().any(|m| m.name.contains("Template")), "round {round}: {methods:?}");
    }
    Ok(())
}

#[test]
fn wrong_options_are_said_and_the_program_runs_as_it_is() -> Result<()> {
    let jre = jre::all()?.remove(0);
    for (options, reason) in [
        ("recrod=counts", "unknown option `recrod`"),
        ("include=a b", "bad pattern `a b`"),
        ("transform=everything", "transform=everything"),
        ("ids=/nowhere/ids", "ids=/nowhere/ids: No such file"),
        ("ids=/", "ids=/: "),
        ("account=/nowhere/x", "account=/nowhere/x: No such file"),
        ("dump=/dev/null/x", "dump=/dev/null/x: Not a directory"),
    ] {
        let outcome = run(&jre, &[&option(options)?, "-cp", &class_path(), "Program"])?;
        assert_eq!(
            (outcome.code, outcome.stdout.lines().count(), outcome.profiles()),
            (Some(0), 1, 0),
            "{options}"
        );
        let said = format!("instrument: {reason}");
        ensure!(outcome.stderr.starts_with(&said), "{options}: {}", outcome.stderr);
        ensure!(outcome.stderr.ends_with("; the program runs as it is\n"), "{options}: {}", outcome.stderr);
    }
    let twice = run(&jre, &[&option("")?, &option("")?, "-cp", &class_path(), "Program"])?;
    assert_eq!(twice.methods()?["Program.make"].entries, 1000);
    ensure!(twice.stderr.contains("the agent is loaded already"), "{}", twice.stderr);
    let off = run(&jre, &[&option("record=off")?, "-cp", &class_path(), "Program"])?;
    assert_eq!((off.code, off.stderr.as_str(), off.profiles()), (Some(0), "", 0));
    Ok(())
}

fn instrument_run(options: &[&str], java: &[&str]) -> Result<Command> {
    let mut command = subject::call()?;
    command.arg("run").args(options).arg("--agent").arg(agent::library()?).arg("--").args(java);
    Ok(command)
}

fn java(jre: &Jre) -> PathBuf {
    jre.home.join("bin/java")
}

#[test]
fn the_command_starts_a_program_and_ends_as_it_does() -> Result<()> {
    for jre in jre::all()? {
        let java = java(&jre).display().to_string();
        let words = [java.as_str(), "-Dinstrument.name=given", "-cp", &class_path(), "Program"];
        let outcome = finish(instrument_run(&["-o", "profiles/", "--include", "Program*#*"], &words)?)?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        let said = outcome
            .stderr
            .strip_prefix("profile: profiles/given-")
            .unwrap_or_else(|| panic!("{}", outcome.stderr));
        ensure!(said.contains(".iprof, ") && said.ends_with("B\n"), "{}", outcome.stderr);
        let methods = subject::profile(&outcome.folder.path().join("profiles"))?;
        ensure!(methods.iter().any(|method| method.name == "Program.fibonacci"), "{methods:?}");

        let failing = [&words[..], &["exit"]].concat();
        assert_eq!(finish(instrument_run(&[], &failing)?)?.code, Some(7));
        let script = format!("{java} -cp {} Program", class_path());
        let outcome = finish(instrument_run(&[], &["sh", "-c", &script])?)?;
        ensure!(
            outcome.code == Some(0) && outcome.stderr.contains("profile: Program-"),
            "{}",
            outcome.stderr
        );
        assert_eq!(outcome.methods()?["Program.make"].entries, 1000);
    }
    let wrong = finish(instrument_run(&["--include", "a b"], &["java", "-version"])?)?;
    assert_eq!(wrong.code, Some(2));
    Ok(())
}

#[test]
fn signals_reach_the_program() -> Result<()> {
    let jre = jre::all()?.remove(0);
    let java = java(&jre).display().to_string();
    for (signal, code) in [("TERM", 143), ("INT", 130), ("KILL", 137)] {
        let folder = tempfile::tempdir()?;
        let mut command = instrument_run(&[], &[&java, "-cp", &class_path(), "Program", "wait"])?;
        let mut child =
            command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("a pipe")?);
        let mut line = String::new();
        while line != "ready\n" {
            line.clear();
            ensure!(stdout.read_line(&mut line)? > 0, "the program ended too early");
        }
        // The program itself is killed, the other signals go to us.
        let target = if signal == "KILL" { child_of(child.id())? } else { child.id() };
        Command::new("kill").args([&format!("-{signal}"), &target.to_string()]).run_quietly()?;
        let mut rest = String::new();
        stdout.read_to_string(&mut rest)?;
        let output = child.wait_with_output()?;
        assert_eq!(output.status.code(), Some(code), "{signal}: {:?}", output.status.signal());
        assert_eq!(rest.contains("hook"), signal != "KILL", "{signal}");
        let methods = subject::profile(folder.path())?;
        ensure!(
            methods.iter().any(|m| m.name == "Program.make" && m.entries == 1000),
            "{signal}: {methods:?}"
        );
        ensure!(String::from_utf8_lossy(&output.stderr).contains("profile: Program-"), "{signal}");
    }
    Ok(())
}

fn child_of(process: u32) -> Result<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = fs::read_to_string(&path).context(path)?;
    Ok(children.split_whitespace().next().context("no child")?.parse()?)
}
