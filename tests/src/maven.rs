//! Maven: what fetches jars and builds the projects of others' frameworks, and those of `tests/maven` with our own plugins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::machine::root;
use crate::{agent, shared, subject};

const ATTEMPTS: u32 = 4;

/// Runs a goal of the project in `directory`; a failed download is tried again.
pub fn run<S: AsRef<str>>(directory: &Path, goal: &str, options: &[S]) -> Result<()> {
    let mut said = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(Duration::from_secs(3 << attempt));
        }
        // Without -U, Maven would remember a failure and not try again.
        let output = Command::new("mvn")
            .args(["-q", "-B", "-U", "-f"])
            .arg(directory.join("pom.xml"))
            .arg(goal)
            .args(options.iter().map(AsRef::as_ref))
            .output()
            .context("mvn (Maven) is needed")?;
        if output.status.success() {
            return Ok(());
        }
        said = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    bail!("mvn {goal} failed {ATTEMPTS} times: {said}")
}

/// Our plugins in the local repository, under a version that nobody else has, and copies of projects that use them. Both go with it.
pub struct Builds {
    folder: TempDir,
    version: String,
    plugins: Vec<String>,
}

/// Stands in poms of plugins and projects.
const VERSION: &str = concat!("<version>", env!("CARGO_PKG_VERSION"), "</version>");

impl Builds {
    /// Installs plugins, each after those that it needs, and copies projects of `tests/maven` to a path with a blank.
    pub fn new(plugins: &[&str], projects: &[&str]) -> Result<Builds> {
        // Tests of one process run side by side, and each takes its plugins away at its end.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let version = format!("{}-test-{process}-{number}", env!("CARGO_PKG_VERSION"));
        let plugins: Vec<String> = plugins.iter().map(|&plugin| plugin.to_owned()).collect();
        let builds = Builds { folder: tempfile::tempdir()?, version, plugins };
        // Two that install at once break the list of versions in the local repository, for everybody from then on.
        let _lock = shared::lock("maven-install")?;
        for plugin in &builds.plugins {
            let folder = builds.folder.path().join(plugin);
            builds.copy(&root().join("plugins").join(plugin), &folder)?;
            run::<&str>(&folder, "install", &[])?;
        }
        for project in projects {
            builds.copy(&root().join("tests/maven").join(project), &builds.project(project))?;
        }
        Ok(builds)
    }

    /// The folder of a project.
    pub fn project(&self, name: &str) -> PathBuf {
        self.folder.path().join("my projects").join(name)
    }

    /// Another copy of a project.
    pub fn copy_of(&self, name: &str, copy: &str) -> Result<()> {
        self.copy(&root().join("tests/maven").join(name), &self.project(copy))
    }

    /// What Maven says; false: the build failed.
    pub fn build(&self, project: &str, arguments: &[&str]) -> Result<(bool, String)> {
        let output = Command::new("mvn")
            .args(["-B", "-ntp", "-Dstyle.color=never"])
            .arg(format!("-Dinstrument.executable={}", subject::instrument()?.display()))
            .arg(format!("-Dinstrument.agent={}", agent::library()?.display()))
            .args(arguments)
            .current_dir(self.project(project))
            .output()
            .context("mvn (Maven) is needed")?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// The same of a build that must succeed.
    pub fn succeed(&self, project: &str, arguments: &[&str]) -> Result<String> {
        let (success, said) = self.build(project, arguments)?;
        ensure!(success, "mvn {arguments:?} in {project}: {said}");
        Ok(said)
    }

    /// Files of a folder, poms with our own version.
    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from).with_context(|| from.display().to_string())?.flatten() {
            let (path, target) = (entry.path(), to.join(entry.file_name()));
            if path.is_dir() {
                if entry.file_name() != "target" {
                    self.copy(&path, &target)?;
                }
            } else if entry.file_name() == "pom.xml" {
                let own = format!("<version>{}</version>", self.version);
                fs::write(&target, fs::read_to_string(&path)?.replace(VERSION, &own))?;
            } else {
                fs::copy(&path, &target)?;
            }
        }
        Ok(())
    }
}

impl Drop for Builds {
    fn drop(&mut self) {
        let Some(home) = std::env::var_os("HOME") else { return };
        let group = Path::new(&home).join(".m2/repository/io/github/instrument");
        for artifact in group.read_dir().into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(artifact.path().join(&self.version));
        }
    }
}
