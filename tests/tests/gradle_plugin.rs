//! The Gradle plugin in builds of `tests/gradle/shop`: with the Gradle of the machine (Debian's is 4.4.1), and with 8.5, of which Maven Central
//! has no distribution, but the classes (`tests/gradle/newer`). With `INSTRUMENT_CORPUS_FULL=1` only: Gradle takes its time.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::root;
use instrument_tests::{agent, maven, subject};
use tempfile::TempDir;

struct Gradle {
    folder: TempDir,
}

impl Gradle {
    fn new() -> Result<Gradle> {
        let folder = tempfile::tempdir()?;
        copy(&root().join("plugins/gradle"), &folder.path().join("plugin"))?;
        maven::run::<&str>(&folder.path().join("plugin"), "package", &[])?;
        Ok(Gradle { folder })
    }

    fn jar(&self) -> PathBuf {
        let jar = format!("plugin/target/instrument-gradle-plugin-{}.jar", env!("CARGO_PKG_VERSION"));
        self.folder.path().join(jar)
    }

    /// Another checkout of the project.
    fn checkout(&self, name: &str) -> Result<()> {
        copy(&root().join("tests/gradle/shop"), &self.folder.path().join(name))
    }

    fn build(&self, checkout: &str, arguments: &[&str]) -> Result<(bool, String)> {
        let Output { status, stdout, stderr } = Command::new("gradle")
            .args(["--offline", "--no-daemon", "--build-cache"])
            .arg(format!("-PpluginJar={}", self.jar().display()))
            .arg(format!("-Pinstrument.executable={}", subject::instrument()?.display()))
            .arg(format!("-Pinstrument.agent={}", agent::library()?.display()))
            .args(arguments)
            .env("GRADLE_USER_HOME", self.folder.path().join("home"))
            .current_dir(self.folder.path().join(checkout))
            .output()
            .context("gradle")?;
        let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        Ok((status.success(), said))
    }

    fn succeed(&self, checkout: &str, arguments: &[&str]) -> Result<String> {
        let (success, said) = self.build(checkout, arguments)?;
        ensure!(success, "gradle {arguments:?}: {said}");
        Ok(said)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true if entry.file_name() == "target" || entry.file_name() == "build" => {}
            true => copy(&path, &target)?,
            false => _ = fs::copy(&path, &target)?,
        }
    }
    Ok(())
}

#[test]
fn projects_are_built_with_the_plugin() -> Result<()> {
    if !Corpus::full() {
        return Ok(());
    }
    let gradle = Gradle::new()?;
    newer(&gradle)?;
    if Command::new("gradle").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gradle; `apt-get install gradle` gets one");
        return Ok(());
    }
    gradle.checkout("first")?;
    let said = gradle.succeed("first", &["run"])?;
    ensure!(said.contains("4 methods of 2 classes rewritten") && said.contains("sum 42"), "{said}");
    let built = gradle.folder.path().join("first/build");
    let output =
        subject::call()?.args(["report", "--counts", "--csv"]).arg(built.join("run.iprof")).output()?;
    let counts = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(counts.contains("lib.Price.of(I)I,7,7,") && counts.contains("shop.Shop.main("), "{counts}");

    // Nothing has changed, and nothing is done.
    let said = gradle.succeed("first", &["run"])?;
    ensure!(said.contains(":instrumentRuntimeClasspath UP-TO-DATE"), "{said}");
    // An option, and the program, are inputs.
    let script = gradle.folder.path().join("first/build.gradle");
    let text = fs::read_to_string(&script)?;
    fs::write(
        &script,
        text.replace("transform = ['method-events', 'allocation']", "transform = ['method-events']"),
    )?;
    let said = gradle.succeed("first", &["run"])?;
    ensure!(said.contains("4 methods of 2 classes rewritten"), "{said}");

    // Another checkout, under a path with a blank, gets the result from the cache, and it runs there.
    gradle.checkout("my second")?;
    let said = gradle.succeed("my second", &["run", "gate", "-Pinstrument.gateAction=learn"])?;
    ensure!(said.contains(":instrumentRuntimeClasspath FROM-CACHE") && said.contains("sum 42"), "{said}");

    // The report: the classes of both modules, and no other.
    let said = gradle.succeed("my second", &["instrumentReport", "instrumentAggregate"])?;
    let reports = gradle.folder.path().join("my second/build/instrument-reports");
    for (name, own) in [("report", "classes of "), ("aggregate", " more, ")] {
        let text = fs::read_to_string(reports.join(name).join("report.txt"))?;
        ensure!(text.contains(own) && reports.join(name).join("report.html").is_file(), "{text}");
    }
    ensure!(said.contains("shop.Shop.main(String[])") && said.contains("lib.Price.of(int)"), "{said}");

    // A gate from several builds: each is run, and none before them is taken.
    let learn = ["instrumentGate", "-Pinstrument.gateAction=learn", "-Pinstrument.keep"];
    for runs in ["1 run -> ", "2 runs -> "] {
        let said = gradle.succeed("my second", &learn)?;
        ensure!(said.contains(runs), "{said}");
    }

    // The agent records what the gate judges.
    let source = gradle.folder.path().join("my second/src/main/java/shop/Shop.java");
    fs::write(&source, fs::read_to_string(&source)?.replace("i < 7", "i < 70"))?;
    // Another task that is left out changes nothing.
    let (success, said) = gradle.build("my second", &["gate", "-x", "javadoc"])?;
    ensure!(!success && said.contains("now calls `Price#of` 70 times, was 7"), "{said}");
    let said = gradle.succeed("my second", &["gate", "-x", "agentRun"])?;
    ensure!(said.contains("nothing to judge: this build leaves out agentRun (-x)"), "{said}");
    Ok(())
}

/// Modules of Gradle that it asks for by name; all their classes are in one jar.
const MODULES: [&str; 26] = [
    "base-annotations",
    "base-services",
    "core",
    "core-api",
    "dependency-management",
    "installation-beacon",
    "instrumentation-agent",
    "instrumentation-declarations",
    "java-compiler-plugin",
    "kotlin-dsl",
    "language-java",
    "language-jvm",
    "launcher",
    "logging",
    "messaging",
    "native",
    "platform-base",
    "platform-jvm",
    "plugin-use",
    "plugins",
    "runtime-api-info",
    "testing-base",
    "tooling-api",
    "worker-main",
    "worker-processes",
    "workers",
];

/// Gradle 8.5 as far as it is in the jar of its API, started in the shape of its distribution. The jar lacks the incremental compiler.
fn newer(gradle: &Gradle) -> Result<()> {
    let at = |name: &str| gradle.folder.path().join(name);
    copy(&root().join("tests/gradle/newer"), &at("newer"))?;
    let lib = at("newer/lib");
    let output = format!("-DoutputDirectory={}", lib.display());
    maven::run(&at("newer"), "dependency:copy-dependencies", &[&output])?;
    let jars = lib.read_dir()?.flatten().map(|entry| entry.path().display().to_string());
    let class_path = jars.filter(|jar| jar.ends_with(".jar")).collect::<Vec<_>>().join(":");
    for module in MODULES {
        let mut jar = zip::ZipWriter::new(fs::File::create(lib.join(format!("gradle-{module}-8.5.jar")))?);
        let options = zip::write::SimpleFileOptions::default();
        jar.start_file(format!("gradle-{module}-classpath.properties"), options)?;
        jar.write_all(b"projects=\nruntime=\n")?;
        jar.finish()?;
    }
    // By this folder Gradle knows a distribution.
    fs::create_dir_all(lib.join("plugins"))?;
    let empty = zip::ZipWriter::new(fs::File::create(lib.join("javax.inject-1.jar"))?);
    empty.finish()?;
    let build = |checkout: &str, arguments: &[&str]| -> Result<String> {
        let mut java = Command::new("java");
        // As Gradle starts itself: it starts no other JVM then.
        java.args(["-Xmx512m", "-Xms256m", "-XX:MaxMetaspaceSize=384m", "-XX:+HeapDumpOnOutOfMemoryError"]);
        let base = ["util", "lang", "lang.invoke", "nio.charset", "net", "util.concurrent.atomic"];
        for package in base.map(|name| format!("java.base/java.{name}")) {
            java.args(["--add-opens", &format!("{package}=ALL-UNNAMED")]);
        }
        java.args(["--add-opens", "java.prefs/java.util.prefs=ALL-UNNAMED", "-Dfile.encoding=UTF-8"]);
        java.arg("-Dorg.gradle.internal.instrumentation.agent=false");
        java.args([
            "-cp",
            &class_path,
            "org.gradle.launcher.Main",
            "--no-daemon",
            "--offline",
            "--build-cache",
            "--parallel",
        ]);
        java.args(["--configuration-cache", "-I"]).arg(at("newer/init.gradle"));
        java.arg(format!("-PpluginJar={}", gradle.jar().display()));
        java.arg(format!("-Pinstrument.executable={}", subject::instrument()?.display()));
        let output = java
            .args(arguments)
            .env("GRADLE_USER_HOME", at("newer home"))
            .current_dir(at(checkout))
            .output()?;
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{said}");
        Ok(said)
    };
    gradle.checkout("third")?;
    let said = build("third", &["run", "agentRun", "instrumentAggregate"])?;
    ensure!(said.contains("4 methods of 2 classes rewritten"), "{said}");
    ensure!(
        said.matches("sum 42").count() == 2 && said.contains("Configuration cache entry stored."),
        "{said}"
    );
    let said = build("third", &["run", "agentRun", "instrumentAggregate"])?;
    ensure!(said.contains("Configuration cache entry reused."), "{said}");
    for task in ["instrumentRuntimeClasspath", "agentRun", "instrumentAggregate"] {
        ensure!(said.contains(&format!(":{task} UP-TO-DATE")), "{said}");
    }
    gradle.checkout("my fourth")?;
    let said = build("my fourth", &["run"])?;
    ensure!(said.contains(":instrumentRuntimeClasspath FROM-CACHE") && said.contains("sum 42"), "{said}");
    Ok(())
}
