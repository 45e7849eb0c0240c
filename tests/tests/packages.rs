//! The packages of a release, made of the binaries under test: `dist/run`. Installing them into empty roots is `./x dist --test`, which takes
//! its time and needs root.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::{Run, root};
use instrument_tests::{agent, subject};

/// Makes the packages, without the Maven repository (`maven_native.rs` has that).
fn packages(binaries: &Path, out: &Path) -> Result<()> {
    let mut script = Command::new(root().join("dist/run"));
    script.arg("--binaries").arg(binaries).arg("--no-maven").arg("--out").arg(out);
    script.env("SOURCE_DATE_EPOCH", "1700000000").env("INSTRUMENT_DIST_LEVEL", "1").run_quietly()?;
    Ok(())
}

fn lines(command: &mut Command) -> Result<Vec<String>> {
    let output = command.run_quietly()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "the packages are for Linux on x86_64"
)]
fn packages_hold_everything_and_are_the_same_bytes_again() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("bin"))?;
    symlink(subject::instrument()?, at("bin/instrument"))?;
    symlink(agent::library()?, at("bin/libinstrument_agent.so"))?;
    packages(&at("bin"), &at("one"))?;
    packages(&at("bin"), &at("two"))?;
    let sums = fs::read_to_string(at("one/SHA256SUMS"))?;
    ensure!(sums == fs::read_to_string(at("two/SHA256SUMS"))?, "a second run gives other bytes");
    ensure!(sums.lines().count() == 4, "{sums}");
    Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(at("one"))
        .run_quietly()?;

    let name = format!("instrument-{}-linux-x86_64", env!("CARGO_PKG_VERSION"));
    let tarball = at("one").join(format!("{name}.tar.gz"));
    tarball_holds_everything(&tarball, &name)?;
    let install = || {
        let mut script = Command::new("sh");
        script.arg(at("one/install.sh")).arg("--prefix").arg(at("prefix"));
        script
    };
    is_installed_and_removed(&install, &tarball, &at("prefix"))?;
    damage_is_refused(&install, &tarball, &at("prefix"))?;
    debian_package_says_what_it_needs(&at("one"), &at("bin"))
}

fn tarball_holds_everything(tarball: &Path, name: &str) -> Result<()> {
    let listed = lines(Command::new("tar").arg("-tvzf").arg(tarball).env("TZ", "UTC"))?;
    ensure!(
        listed.iter().all(|line| line.contains(" 0/0 ") && line.contains(" 2023-11-14 22:13 ")),
        "{listed:?}"
    );
    let mut files: BTreeSet<String> = lines(Command::new("tar").arg("-tzf").arg(tarball))?
        .iter()
        .filter_map(|path| Some(path.strip_prefix(name)?.trim_matches('/').to_owned()))
        .collect();
    let help = lines(subject::call()?.arg("--help"))?;
    let commands =
        help.iter().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let pages: Vec<String> = commands
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .map(|command| format!("share/man/man1/instrument-{command}.1"))
        .collect();
    ensure!(pages.len() > 20, "{pages:?}");
    let wanted = [
        "bin/instrument",
        "lib/instrument/libinstrument_agent.so",
        "lib/instrument/instrument-runtime.jar",
        "share/man/man1/instrument.1",
        "share/bash-completion/completions/instrument",
        "share/zsh/site-functions/_instrument",
        "share/fish/vendor_completions.d/instrument.fish",
        "share/doc/instrument/LICENSE-MIT",
        "share/doc/instrument/LICENSE-APACHE",
        "share/doc/instrument/THIRD-PARTY.txt",
        "share/doc/instrument/docs/src",
        "install.sh",
        "SHA256SUMS",
    ];
    for file in wanted.iter().map(|file| (*file).to_owned()).chain(pages) {
        ensure!(files.remove(&file), "{file} is not in the tarball");
    }
    Ok(())
}

fn is_installed_and_removed(install: &dyn Fn() -> Command, tarball: &Path, prefix: &Path) -> Result<()> {
    install().arg(tarball).run_quietly()?;
    let library = lines(Command::new(prefix.join("bin/instrument")).arg("agent"))?;
    let expected = prefix.canonicalize()?.join("lib/instrument/libinstrument_agent.so");
    ensure!(library == [expected.display().to_string()], "{library:?}");
    // A file of somebody else stays.
    fs::write(prefix.join("bin/other"), "")?;
    install().arg("--uninstall").run_quietly()?;
    let left = lines(Command::new("find").arg(prefix).args(["-type", "f"]))?;
    ensure!(left == [prefix.join("bin/other").display().to_string()], "{left:?}");
    Ok(())
}

/// Before anything is written.
fn damage_is_refused(install: &dyn Fn() -> Command, tarball: &Path, prefix: &Path) -> Result<()> {
    let mut bytes = fs::read(tarball)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(tarball, bytes)?;
    let refused = install().arg(tarball).output()?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(!refused.status.success() && said.contains("is damaged: its SHA-256 is "), "{said}");
    ensure!(!prefix.join("lib").exists(), "something was installed");
    Ok(())
}

fn debian_package_says_what_it_needs(packages: &Path, binaries: &Path) -> Result<()> {
    let mut made = fs::read_dir(packages)?.flatten().map(|entry| entry.path());
    let deb =
        made.find(|path| path.extension().is_some_and(|extension| extension == "deb")).context("no .deb")?;
    let mut fields = Command::new("dpkg-deb");
    let control = lines(fields.arg("--field").arg(&deb).args(["Depends", "Version"]))?.join("\n");
    let mut newest = Command::new(root().join("dist/glibc"));
    let glibc =
        lines(newest.arg(binaries.join("instrument")).arg(binaries.join("libinstrument_agent.so")))?.concat();
    ensure!(glibc.starts_with("2."), "{glibc}");
    ensure!(control.contains(&format!("Depends: libc6 (>= {glibc})")), "{control}");
    ensure!(control.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"), "-1")), "{control}");
    let contents = lines(Command::new("dpkg-deb").arg("--contents").arg(&deb))?;
    for file in [
        "./usr/bin/instrument",
        "./usr/lib/instrument/libinstrument_agent.so",
        "./usr/share/doc/instrument/copyright",
    ] {
        ensure!(
            contents.iter().any(|line| line.ends_with(file) && line.contains(" root/root ")),
            "{file}: {contents:?}"
        );
    }
    Ok(())
}

/// As the workflow does, with a key that is made for the occasion.
#[test]
fn what_maven_central_wants_signed_is_signed() -> Result<()> {
    if Command::new("gpg").arg("--version").output().is_err() {
        println!("there is no gpg");
        return Ok(());
    }
    let release = tempfile::tempdir()?;
    let folder = release.path().join("maven/io/github/instrument");
    fs::create_dir_all(&folder)?;
    let sign = || {
        let mut script = Command::new(root().join("dist/sign"));
        script.arg(release.path()).args(["0.1.0", "--rehearse"]);
        script
    };
    fs::write(release.path().join("SHA256SUMS"), "x")?;
    fs::write(folder.join("a.pom.sha256"), "x")?;
    let refused = sign().output()?;
    ensure!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("nothing to sign")
    );
    for name in ["a.jar", "a.pom", "a-linux.exe", "a-linux.so"] {
        fs::write(folder.join(name), name)?;
    }
    ensure!(lines(&mut sign())? == ["5 files signed and verified"]);
    ensure!(fs::read_dir(&folder)?.count() == 5, "a rehearsal leaves nothing");
    // Without a key the tree is packed, and its sum is among the others.
    let mut unsigned = Command::new(root().join("dist/sign"));
    unsigned.arg(release.path()).arg("0.1.0").env_remove("MAVEN_GPG_KEY");
    ensure!(lines(&mut unsigned)? == ["nothing is signed: MAVEN_GPG_KEY is not set"]);
    let sums = fs::read_to_string(release.path().join("SHA256SUMS"))?;
    ensure!(sums.ends_with("  instrument-0.1.0-maven.tar.gz\n"), "{sums}");
    ensure!(release.path().join("instrument-0.1.0-maven.tar.gz").is_file());
    Ok(())
}
