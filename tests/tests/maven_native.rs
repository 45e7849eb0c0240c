//! The binary and the agent as artifacts: `dist/maven.py` makes a repository with them and the plugin, and a project that names nothing but
//! the plugin is built with them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::{Run, root};
use instrument_tests::{agent, subject};
use tempfile::TempDir;

/// Not the version that others may have in the machine's local repository.
const VERSION: &str = "0.0.0-native-test";

const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.acme</groupId><artifactId>native</artifactId><version>1</version>
  <pluginRepositories><pluginRepository><id>here</id><url>${plugin.repository}</url></pluginRepository></pluginRepositories>
  <build>
    <plugins>
      <plugin><groupId>io.github.instrument</groupId><artifactId>instrument-maven-plugin</artifactId><version>0.0.0-native-test</version></plugin>
    </plugins>
  </build>
</project>
"#;

/// A company's mirror stands in the place of the repository, which cannot be reached.
const SETTINGS: &str = "<settings><mirrors><mirror><id>here</id><mirrorOf>here</mirrorOf><url>MIRROR</url></mirror></mirrors></settings>";

struct Native {
    folder: TempDir,
    /// Where the machine's local repository keeps this group.
    local: PathBuf,
}

impl Native {
    fn new() -> Result<Native> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("bin"))?;
        for (from, name) in
            [(subject::instrument()?, "instrument"), (agent::library()?, "libinstrument_agent.so")]
        {
            // The debugging information of a test build is most of it.
            Command::new("strip")
                .arg("--strip-debug")
                .arg("-o")
                .arg(at("bin").join(name))
                .arg(from)
                .run_quietly()?;
        }
        let plugin = at("plugin-source");
        fs::create_dir_all(&plugin)?;
        Command::new("cp").arg("-r").arg(root().join("plugins/maven/src")).arg(&plugin).run_quietly()?;
        let pom = fs::read_to_string(root().join("plugins/maven/pom.xml"))?;
        let own = concat!("<version>", env!("CARGO_PKG_VERSION"), "</version>");
        ensure!(pom.contains(own), "the plugin has another version than the workspace");
        fs::write(plugin.join("pom.xml"), pom.replacen(own, &format!("<version>{VERSION}</version>"), 1))?;
        let mut script = Command::new(root().join("dist/maven.py"));
        script.arg("--binaries").arg(at("bin")).arg("--plugin").arg(&plugin).arg("--work").arg(at("work"));
        script.arg(at("repository")).envs([
            ("VERSION", VERSION),
            ("PLATFORM", "linux-x86_64"),
            ("SOURCE_DATE_EPOCH", "1700000000"),
        ]);
        script.run_quietly()?;
        let home = std::env::var_os("HOME").context("HOME")?;
        let local = Path::new(&home).join(".m2/repository/io/github/instrument");
        fs::create_dir_all(at("project/target"))?;
        fs::write(at("project/pom.xml"), POM)?;
        Ok(Native { folder, local })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Forgets what the local repository has of this test.
    fn forget(&self, artifact: &str) -> Result<()> {
        let folder = self.local.join(artifact).join(VERSION);
        if folder.exists() { Ok(fs::remove_dir_all(folder)?) } else { Ok(()) }
    }

    /// `mvn instrument:prepare-agent` in the project, without an `instrument` on the PATH.
    fn build(&self, adjust: impl FnOnce(&mut Command)) -> Result<(bool, String)> {
        self.build_from(&format!("file://{}", self.at("repository").display()), adjust)
    }

    /// The same with another address of the plugin's repository.
    fn build_from(&self, address: &str, adjust: impl FnOnce(&mut Command)) -> Result<(bool, String)> {
        let mut maven = Command::new("mvn");
        maven
            .args(["-B", "-ntp", "-Dstyle.color=never", "instrument:prepare-agent"])
            .arg(format!("-Dplugin.repository={address}"))
            .env("PATH", path_without_instrument()?)
            .current_dir(self.at("project"));
        adjust(&mut maven);
        let output = maven.output().context("mvn (Maven) is needed")?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// The folder with the executable copies.
    fn copies(&self) -> Result<PathBuf> {
        let mut found = fs::read_dir(self.at("project/target/instrument-native"))?.flatten();
        Ok(found.next().context("no copies were made")?.path())
    }
}

/// The folders of the PATH that have no binary of this name: somebody may have installed one.
fn path_without_instrument() -> Result<OsString> {
    let path = std::env::var_os("PATH").context("PATH")?;
    Ok(std::env::join_paths(
        std::env::split_paths(&path).filter(|folder| !folder.join("instrument").exists()),
    )?)
}

impl Drop for Native {
    fn drop(&mut self) {
        for artifact in ["instrument-native", "instrument-maven-plugin"] {
            let _ = self.forget(artifact);
        }
    }
}

#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "the packages are for Linux on x86_64"
)]
fn the_binary_comes_from_the_repository_of_the_plugin() -> Result<()> {
    let native = Native::new()?;
    for artifact in ["instrument-native", "instrument-maven-plugin"] {
        native.forget(artifact)?;
    }
    let mirror = format!("file://{}", native.at("repository").display());
    fs::write(native.at("settings.xml"), SETTINGS.replace("MIRROR", &mirror))?;
    let (success, said) = native.build_from("https://repository.invalid/", |maven| {
        maven.arg("-gs").arg(native.at("settings.xml"));
    })?;
    ensure!(success, "{said}");
    let copies = native.copies()?;
    let library = copies.join("libinstrument_agent.so");
    ensure!(said.contains(&format!("argLine set to -agentpath:{}=", library.display())), "{said}");
    for name in ["instrument", "libinstrument_agent.so"] {
        let copy = copies.join(name);
        ensure!(fs::read(&copy)? == fs::read(native.at("bin").join(name))?, "{name} is another file");
        ensure!(fs::metadata(&copy)?.permissions().mode() & 0o777 == 0o755, "{name} is not executable");
    }
    ensure!(fs::read_dir(&copies)?.count() == 2, "files are left over");
    let released = native.local.join("instrument-native").join(VERSION);
    let released = released.join(format!("instrument-native-{VERSION}-linux-x86_64.exe"));
    ensure!(fs::metadata(&released)?.permissions().mode() & 0o111 == 0, "the local repository was changed");

    // Offline, from the local repository; what somebody did to the copy is undone.
    fs::write(copies.join("instrument"), "#!/bin/sh\nexit 1\n")?;
    let (success, said) = native.build(|maven| _ = maven.arg("-o"))?;
    ensure!(success, "{said}");
    ensure!(
        fs::read(copies.join("instrument"))? == fs::read(native.at("bin/instrument"))?,
        "a foreign copy was used"
    );

    // A file that is not the released one.
    let mut bytes = fs::read(&released)?;
    let kept = bytes.clone();
    bytes[1000] ^= 1;
    fs::write(&released, &bytes)?;
    fs::remove_file(copies.join("instrument"))?;
    let (success, said) = native.build(|maven| _ = maven.arg("-o"))?;
    ensure!(
        !success && said.contains("is not the file that was released with this plugin: its SHA-256 is "),
        "{said}"
    );
    ensure!(!copies.join("instrument").exists(), "the wrong file was put there");
    fs::write(&released, kept)?;

    // An explicit path wins, and its own agent is requested.
    let path = format!("-Dinstrument.executable={}", subject::instrument()?.display());
    let (success, said) = native.build(|maven| _ = maven.args(["-o", &path]))?;
    let library = agent::library()?.canonicalize()?;
    ensure!(success && said.contains(&format!("-agentpath:{}=", library.display())), "{said}");
    ensure!(!copies.join("instrument").exists(), "a copy was made although a binary is named");

    // A platform without a binary, and an artifact that is not to be had.
    let (success, said) = native.build(|maven| _ = maven.arg("-o").env("MAVEN_OPTS", "-Dos.arch=sparc"))?;
    let wanted = "there is no binary for linux-sparc, only for linux-x86_64; and there is no `instrument` on the PATH. Build it";
    ensure!(!success && said.contains(wanted), "{said}");
    native.forget("instrument-native")?;
    let (success, said) = native.build(|maven| _ = maven.arg("-o"))?;
    ensure!(
        !success
            && said.contains("instrument-native:exe:linux-x86_64")
            && said.contains("-Dinstrument.executable"),
        "{said}"
    );

    // Then the one on the PATH, which is said.
    let rest = path_without_instrument()?;
    let path = std::env::join_paths([native.at("bin")].into_iter().chain(std::env::split_paths(&rest)))?;
    let (success, said) = native.build(|maven| _ = maven.arg("-o").env("PATH", path))?;
    ensure!(success && said.contains("of the PATH instead"), "{said}");
    Ok(())
}
