//! Classes of every kind of loader reach the one runtime: containers run as before, and what they load is counted as elsewhere.

use instrument_tests::shared;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, join, root};

/// The programs of `tests/java/agent`, compiled: `plain` ones, and those of `containers`.
struct Programs {
    folder: PathBuf,
}

impl Programs {
    fn get() -> Programs {
        Programs { folder: shared::folder("class-loaders", Programs::compile) }
    }

    fn compile(folder: &Path) -> Result<()> {
        let plain = folder.join("plain");
        fs::create_dir(&plain)?;
        agent::compile(&["Program.java", "containers/Picky.java"], 8, &plain)?;
        let corpus = Corpus::open()?;
        let containers = folder.join("containers");
        fs::create_dir(&containers)?;
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["-Xlint:-options", "--release", "11", "-d"]).arg(&containers);
        javac.arg("-cp").arg(join(&[corpus.path("felix")?, corpus.path("tomcat-embed")?]));
        let sources = ["Osgi", "Web", "Runs", "Layers"];
        let sources = sources.map(|name| root().join(format!("tests/java/agent/containers/{name}.java")));
        javac.args(sources).run_quietly()?;
        Ok(())
    }

    fn plain(&self) -> PathBuf {
        self.folder.join("plain")
    }

    fn containers(&self) -> PathBuf {
        self.folder.join("containers")
    }
}

/// Entries, exits, unwinds, aborted and open calls of the methods whose names begin with `prefix`.
fn counts(outcome: &Outcome, prefix: &str) -> Result<BTreeMap<String, [u64; 5]>> {
    let mut methods = outcome.methods()?;
    // Calls of the JDK's methods that wait are none of these.
    methods.retain(|name, _| name.starts_with(prefix) && name != "java.lang.Thread.join");
    let row =
        |m: &instrument_tests::subject::MethodCounts| [m.entries, m.exits, m.unwinds, m.aborted, m.open];
    Ok(methods.iter().map(|(name, method)| (name.clone(), row(method))).collect())
}

/// What `Program` does when nothing is unusual.
fn expected(jre: &Jre) -> Result<BTreeMap<String, [u64; 5]>> {
    static KNOWN: Mutex<BTreeMap<u32, BTreeMap<String, [u64; 5]>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(methods) = known.get(&jre.version) {
        return Ok(methods.clone());
    }
    let alone = run(jre, &[&option("")?, "-cp", &Programs::get().plain().display().to_string(), "Program"])?;
    let methods = counts(&alone, "Program")?;
    assert_eq!(methods["Program.fibonacci"], [1973, 1973, 0, 0, 0]);
    known.insert(jre.version, methods.clone());
    Ok(methods)
}

/// Runs the program as it is and with the agent: same output, same exit code, nothing said. The latter.
fn both(jre: &Jre, options: &str, arguments: &[&str]) -> Result<Outcome> {
    let before = run(jre, arguments)?;
    let agent = option(options)?;
    let after = run(jre, &[&[agent.as_str()], arguments].concat())?;
    let case = format!("Java {}, {arguments:?}\n{}\n{}", jre.version, before.stderr, after.stderr);
    assert_eq!((after.code, &after.stdout), (before.code, &before.stdout), "{case}");
    ensure!(!after.stderr.contains("instrument:"), "{case}");
    ensure!(!after.stderr.contains("NoClassDefFoundError"), "{case}");
    Ok(after)
}

fn jar(folder: &Path, prefix: &str, manifest: &str, path: &Path) -> Result<()> {
    let text = path.with_extension("manifest");
    fs::write(&text, manifest)?;
    let mut names: Vec<String> = fs::read_dir(folder)?
        .map(|e| Ok(e?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.retain(|name| name.starts_with(prefix));
    names.sort();
    let mut jar = Jdk::default_kit()?.tool("jar");
    jar.current_dir(folder).arg("cfm").arg(path).arg(&text).args(&names).run_quietly()?;
    Ok(())
}

#[test]
fn bundles_of_osgi_frameworks_see_nothing_but_java() -> Result<()> {
    let (programs, corpus, work) = (Programs::get(), Corpus::open()?, tempfile::tempdir()?);
    let bundle = work.path().join("bundle.jar");
    let manifest = "Bundle-ManifestVersion: 2\nBundle-SymbolicName: program\nBundle-Version: 1.0\n";
    jar(&programs.plain(), "Program", manifest, &bundle)?;
    for (jre, framework) in jre::each(&jre::ends()?, &["felix", "equinox"]) {
        let path = join(&[programs.containers(), corpus.path(framework)?]);
        let words = ["-cp", &path, "Osgi", &bundle.display().to_string(), "Program"];
        let outcome = both(&jre, "", &words)?;
        assert_eq!(outcome.code, Some(0), "{framework}, Java {}: {}", jre.version, outcome.stderr);
        assert_eq!(counts(&outcome, "Program")?, expected(&jre)?, "{framework}, Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn modules_of_jboss_see_what_they_depend_on() -> Result<()> {
    let (programs, corpus, work) = (Programs::get(), Corpus::open()?, tempfile::tempdir()?);
    let module = work.path().join("modules/program/main");
    fs::create_dir_all(&module)?;
    jar(&programs.plain(), "Program", "Main-Class: Program\n", &module.join("program.jar"))?;
    fs::write(
        module.join("module.xml"),
        r#"<module xmlns="urn:jboss:module:1.9" name="program"><main-class name="Program"/>
           <resources><resource-root path="program.jar"/></resources></module>"#,
    )?;
    let modules = work.path().join("modules").display().to_string();
    let launcher = corpus.path("jboss-modules")?.display().to_string();
    // It sets a policy, which newer ones refuse.
    for jre in jre::all()?.into_iter().filter(|jre| jre.version < 24) {
        let outcome = both(&jre, "", &["-jar", &launcher, "-mp", &modules, "program"])?;
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(counts(&outcome, "Program")?, expected(&jre)?, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn web_applications_are_loaded_child_first() -> Result<()> {
    let (programs, corpus, work) = (Programs::get(), Corpus::open()?, tempfile::tempdir()?);
    let classes = work.path().join("WEB-INF/classes");
    fs::create_dir_all(&classes)?;
    fs::copy(programs.containers().join("Runs.class"), classes.join("Runs.class"))?;
    let server = work.path().join("server");
    fs::create_dir(&server)?;
    fs::copy(programs.containers().join("Web.class"), server.join("Web.class"))?;
    let path = join(&[server, corpus.path("tomcat-embed")?, corpus.path("tomcat-annotations")?]);
    for jre in jre::ends()? {
        let outcome = both(&jre, "", &["-cp", &path, "Web", &work.path().display().to_string()])?;
        ensure!(outcome.code == Some(0), "Java {}: {}", jre.version, outcome.stderr);
        ensure!(
            outcome.stdout.starts_with("request 1, loaded by its own loader: true\n"),
            "{}",
            outcome.stdout
        );
        let methods = counts(&outcome, "")?;
        assert_eq!(methods["Runs.doGet"], [3, 3, 0, 0, 0], "Java {}", jre.version);
        ensure!(methods.contains_key("org.apache.catalina.startup.Tomcat.start"), "{methods:?}");
    }
    Ok(())
}

#[test]
fn jars_in_a_jar_have_a_loader_of_their_own() -> Result<()> {
    let (programs, work) = (Programs::get(), tempfile::tempdir()?);
    let layout = work.path().join("layout");
    fs::create_dir_all(layout.join("BOOT-INF/lib"))?;
    let loader = Corpus::open()?.path("spring-boot-loader")?;
    let jdk = Jdk::default_kit()?;
    jdk.tool("jar").current_dir(&layout).arg("xf").arg(loader).arg("org").run_quietly()?;
    let library = layout.join("BOOT-INF/lib/program.jar");
    jar(&programs.plain(), "Program", "Created-By: tests\n", &library)?;
    fs::remove_file(library.with_extension("manifest"))?;
    let manifest = work.path().join("manifest");
    fs::write(
        &manifest,
        "Main-Class: org.springframework.boot.loader.JarLauncher\nStart-Class: Program\n\
         Spring-Boot-Classes: BOOT-INF/classes/\nSpring-Boot-Lib: BOOT-INF/lib/\n",
    )?;
    let boot = work.path().join("boot.jar");
    jdk.tool("jar").arg("cf0m").arg(&boot).arg(&manifest).arg("-C").arg(&layout).arg(".").run_quietly()?;
    for jre in jre::ends()? {
        let outcome = both(&jre, "exclude=org.springframework.**", &["-jar", &boot.display().to_string()])?;
        assert_eq!(counts(&outcome, "")?, expected(&jre)?, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn loaders_that_answer_few_questions_are_asked_none() -> Result<()> {
    let path = Programs::get().plain().display().to_string();
    let machines = jre::all()?;
    for (jre, how) in jre::each(&machines, &["filters", "throws", "locked"]) {
        let words = ["-Xcheck:jni", "-Xverify:all", "-cp", &path, "Picky", how, "Program"];
        let outcome = both(&jre, "exclude=Picky", &words)?;
        assert_eq!(counts(&outcome, "")?, expected(&jre)?, "Java {}, {how}", jre.version);
    }
    for jre in &machines {
        // All probes, and those of the JDK's own classes beside them.
        let options =
            "exclude=Picky,include=java.util.**:**,transform=method-events:thread-links:hand-over:allocation";
        let outcome = both(jre, options, &["-cp", &path, "Picky", "throws", "Program"])?;
        assert_eq!(counts(&outcome, "Program")?, expected(jre)?, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn a_loader_that_hides_even_that_keeps_its_classes_as_they_are() -> Result<()> {
    let path = Programs::get().plain().display().to_string();
    for jre in jre::ends()? {
        let words = ["-cp", &path, "Picky", "list", "Program"];
        let before = run(&jre, &words)?;
        let agent = option("report=report.jsonl")?;
        let after = run(&jre, &[&[agent.as_str()][..], &words].concat())?;
        assert_eq!((after.code, &after.stdout), (before.code, &before.stdout), "{}", after.stderr);
        let said = "instrument: Program is not instrumented: its class loader cannot see the runtime\n";
        assert_eq!(after.stderr, said, "Java {}", jre.version);
        let report = fs::read_to_string(after.folder.path().join("report.jsonl"))?;
        let lines: Vec<&str> = report.lines().filter(|line| line.contains("unreachable-runtime")).collect();
        ensure!(lines.iter().any(|line| line.contains(r#""class":"Program$Item""#)), "{lines:?}");
        ensure!(counts(&after, "Program")?.is_empty() && !counts(&after, "Picky")?.is_empty());
    }
    Ok(())
}

#[test]
fn modules_of_a_layer_reach_the_runtime() -> Result<()> {
    let (programs, work) = (Programs::get(), tempfile::tempdir()?);
    let modules = work.path().join("modules");
    fs::create_dir(&modules)?;
    agent::compile(&["module/module-info.java", "module/agent/module/api/Main.java"], 11, &modules)?;
    let (path, modules) = (programs.containers().display().to_string(), modules.display().to_string());
    for jre in jre::ends()? {
        let words = ["-cp", &path, "Layers", &modules, "agent.module", "agent.module.api.Main"];
        let outcome = both(&jre, "", &words)?;
        assert_eq!(counts(&outcome, "agent.")?["agent.module.api.Main.twice"], [10, 10, 0, 0, 0]);
    }
    Ok(())
}

/// A program that is attached to is linked already: its loaders have not been asked while they loaded.
#[test]
fn loaders_of_a_running_program_are_asked_late() -> Result<()> {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let path = Programs::get().plain().display().to_string();
    for jre in jre::all()?.into_iter().filter(|jre| jre.home.join("bin/jcmd").exists()) {
        let folder = tempfile::tempdir()?;
        let words = ["-cp", &path, "Picky", "throws", "Program$Endless"];
        let mut child =
            jre.brief_java().current_dir(folder.path()).args(words).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut line)?;
        let library = agent::library()?.display().to_string();
        let mut jcmd = Command::new(jre.home.join("bin/jcmd"));
        let said = jcmd.args([&child.id().to_string(), "JVMTI.agent_load", &library, "\"name=late\""]);
        let said = said.run_quietly();
        let step = "Program$Endless.step";
        let recorded = instrument_tests::subject::wait_for_entries(folder.path(), &[step]);
        let alive = child.try_wait()?.is_none();
        child.kill()?;
        child.wait()?;
        ensure!(String::from_utf8_lossy(&said?.stdout).contains("return code: 0"));
        ensure!(alive, "Java {}: the program ended", jre.version);
        recorded?;
        let methods = instrument_tests::subject::profile(folder.path())?;
        let entries = instrument_tests::subject::entries_of(&methods, step);
        ensure!(entries > 0, "Java {}: {methods:?}", jre.version);
    }
    Ok(())
}
