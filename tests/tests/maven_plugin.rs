//! The Maven plugin in builds of fixture projects (`tests/maven`). The plugin is built into a repository that is a folder, from which the
//! projects get it as from any other. Several modules are built with `INSTRUMENT_CORPUS_FULL=1` only: Maven takes its time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::root;
use instrument_tests::{agent, maven, subject};
use tempfile::TempDir;

struct Builds {
    folder: TempDir,
}

impl Builds {
    /// The plugin in a folder that is a repository, and the projects under a path with a blank.
    fn new() -> Result<Builds> {
        let folder = tempfile::tempdir()?;
        let plugin = folder.path().join("plugin");
        copy(&root().join("plugins/maven"), &plugin)?;
        let repository =
            format!("-DaltDeploymentRepository=here::default::file://{}/repository", folder.path().display());
        maven::run(
            &plugin,
            "package",
            &["org.apache.maven.plugins:maven-deploy-plugin:2.8.2:deploy", &repository],
        )?;
        copy(&root().join("tests/maven"), &folder.path().join("my projects"))?;
        Ok(Builds { folder })
    }

    fn project(&self, name: &str) -> PathBuf {
        self.folder.path().join("my projects").join(name)
    }

    /// What Maven says; `None`: the build failed.
    fn build(&self, project: &str, arguments: &[&str]) -> Result<(bool, String)> {
        let output = Command::new("mvn")
            .args(["-B", "-ntp", "-Dstyle.color=never"])
            .arg(format!("-Dplugin.repository=file://{}/repository", self.folder.path().display()))
            .arg(format!("-Dinstrument.executable={}", subject::instrument()?.display()))
            .arg(format!("-Dinstrument.agent={}", agent::library()?.display()))
            .args(arguments)
            .current_dir(self.project(project))
            .output()
            .context("mvn (Maven) is needed")?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    fn succeed(&self, project: &str, arguments: &[&str]) -> Result<String> {
        let (success, said) = self.build(project, arguments)?;
        ensure!(success, "mvn {arguments:?} in {project}: {said}");
        Ok(said)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true if entry.file_name() == "target" => {}
            true => copy(&path, &target)?,
            false => _ = fs::copy(&path, &target)?,
        }
    }
    Ok(())
}

/// The files below, with their content and time.
fn state(folder: &Path) -> Result<BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)>> {
    let mut state = BTreeMap::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            state.append(&mut self::state(&path)?);
        } else {
            state.insert(path.clone(), (fs::read(&path)?, path.metadata()?.modified()?));
        }
    }
    Ok(state)
}

#[test]
fn projects_are_built_with_the_plugin() -> Result<()> {
    let builds = Builds::new()?;
    single(&builds)?;
    if Corpus::full() { modules(&builds) } else { Ok(()) }
}

fn single(builds: &Builds) -> Result<()> {
    let folder = builds.project("single");
    let jar = |name: &str| folder.join("target").join(name);
    builds.succeed("single", &["package", "-Dinstrument.skip"])?;
    let bare = fs::read(jar("single-1.jar"))?;
    ensure!(!jar("instrumented-classes").exists(), "skipped");
    let said = builds.succeed("single", &["verify"])?;
    ensure!(said.contains("single-1.jar -> "), "{said}");
    ensure!(fs::read(jar("single-1.jar"))? == bare, "what is released has changed");
    ensure!(
        fs::read_to_string(jar("instrument/report.txt"))?.contains("Shop.price"),
        "no report of the tests"
    );
    let output = Command::new("java")
        .arg("-cp")
        .arg(jar("single-1-instrumented.jar"))
        .arg("shop.Shop")
        .current_dir(folder.join("target"))
        .output()?;
    ensure!(output.status.success(), "{output:?}");

    // The second build does nothing, without a network, too.
    let before = state(&jar("instrumented-classes"))?;
    let said = builds.succeed("single", &["-o", "verify"])?;
    ensure!(said.matches("nothing to do: ").count() == 2, "{said}");
    ensure!(state(&jar("instrumented-classes"))? == before, "it was up to date");

    // A change in the program is one to what is made of it.
    let source = folder.join("src/main/java/shop/Shop.java");
    fs::write(&source, fs::read_to_string(&source)?.replace("n * 2", "n + n"))?;
    let said = builds.succeed("single", &["-o", "verify"])?;
    ensure!(!said.contains("nothing to do: "), "{said}");

    // A gate over the tests.
    builds.succeed("single", &["-o", "instrument:gate", "-Dinstrument.gateAction=learn"])?;
    builds.succeed("single", &["-o", "verify", "instrument:gate"])?;
    let source = folder.join("src/test/java/shop/ShopTest.java");
    fs::write(&source, fs::read_to_string(&source)?.replace("i < 7", "i < 70"))?;
    let (success, said) = builds.build("single", &["-o", "verify", "instrument:gate"])?;
    ensure!(!success && said.contains("now calls `Shop#price` 70 times, was 7"), "{said}");

    // What is missing is said, and what to do.
    let missing = "-Dinstrument.executable=/nowhere/instrument";
    let (success, said) = builds.build("single", &["-o", "instrument:instrument", missing])?;
    ensure!(!success && said.contains("instrument.executable: /nowhere/instrument is no file"), "{said}");
    Ok(())
}

fn modules(builds: &Builds) -> Result<()> {
    let said = builds.succeed("modules", &["-T2", "package"])?;
    for name in ["base", "service", "app"] {
        ensure!(said.contains(&format!("{name}-1.jar -> ")), "{name}: {said}");
    }
    let folder = builds.project("modules");
    // One id for one method, over all modules.
    let output = subject::call()?.arg("ids").arg(folder.join("target/instrument.ids")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ids: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.parse::<u32>().is_ok())
        .collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    ensure!(ids.len() >= 6 && unique.len() == ids.len(), "{text}");
    let said = builds.succeed("modules", &["-o", "-T2", "package"])?;
    ensure!(said.matches("nothing to do: ").count() == 6, "{said}");
    Ok(())
}
