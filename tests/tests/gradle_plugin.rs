//! The Gradle plugin in builds of `tests/gradle/shop`, with the Gradle of the machine, and applied in the classes of a newer one
//! (`tests/gradle/newer`). Debian's is 4.4.1; what only later ones have (configuration cache, `Test` tasks with JUnit 5) is not tried here.
//! With `INSTRUMENT_CORPUS_FULL=1` only: Gradle takes its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Run, root};
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

    // The agent records what the gate judges.
    let source = gradle.folder.path().join("my second/src/main/java/shop/Shop.java");
    fs::write(&source, fs::read_to_string(&source)?.replace("i < 7", "i < 70"))?;
    let (success, said) = gradle.build("my second", &["gate"])?;
    ensure!(!success && said.contains("now calls `Price#of` 70 times, was 7"), "{said}");
    Ok(())
}

/// Of Gradle 8.5 there are the classes, but no distribution: the plugin is applied to a project, and its task rewrites.
fn newer(gradle: &Gradle) -> Result<()> {
    let at = |name: &str| gradle.folder.path().join(name);
    copy(&root().join("tests/gradle/newer"), &at("newer"))?;
    let output = format!("-DoutputDirectory={}", at("newer/lib").display());
    maven::run(&at("newer"), "dependency:copy-dependencies", &[&output])?;
    let source = "class Some { int one() { return 1; } }";
    fs::write(at("newer/Some.java"), source)?;
    let class_path = format!("{}/*:{}", at("newer/lib").display(), gradle.jar().display());
    let classes = at("newer/classes");
    let mut javac = Command::new("javac");
    javac
        .arg("-d")
        .arg(&classes)
        .args(["-cp", &class_path])
        .args([at("newer/Applied.java"), at("newer/Some.java")]);
    javac.run_quietly()?;
    let output = Command::new("java")
        .args(["--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp"])
        .arg(format!("{class_path}:{}", classes.display()))
        .arg("Applied")
        .args([at("newer"), subject::instrument()?, agent::library()?, classes])
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && said.contains("methods of 2 classes rewritten"), "{output:?}");
    ensure!(said.contains("8.5 [--transform, method-events] ["), "{said}");
    Ok(())
}
