//! What `--version` says that the binary was built from.

use crate::common::Dir;
use std::fs;
use std::path::Path;
use std::process::Command;

#[path = "../build/commit.rs"]
mod commit;

fn git(folder: &Path, words: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(identity).args(words);
    command.env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_long_version_has_a_line_for_each_fact() {
    let dir = Dir::new();
    let short = format!("instrument {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(dir.line("-V").expect(0).stdout, short);
    let long = dir.line("--version").expect(0).stdout;
    let facts = long.strip_prefix(&short).unwrap();
    let names: Vec<_> =
        facts.lines().filter_map(|line| line.split_once("  ")).map(|(name, _)| name).collect();
    assert_eq!(names, ["commit", "target", "features", "compiler"], "{long}");
    assert!(facts.lines().all(|line| line.split_once("  ").is_some_and(|(_, fact)| !fact.trim().is_empty())));
    assert!(facts.contains("rustc 1."), "{facts}");
}

#[test]
fn the_commit_is_that_of_these_sources() {
    let dir = Dir::new();
    let folder = dir.path("sources");
    fs::create_dir_all(folder.join("cli/build")).unwrap();
    let own = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("build/commit.txt")).unwrap();
    fs::write(folder.join("cli/build/commit.txt"), own).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.gitattributes"), folder.join(".gitattributes"))
        .unwrap();
    let said = || commit::commit(&folder);
    assert_eq!(said(), None, "without git");
    git(&dir.path(""), &["init", "-q"]);
    assert_eq!(said(), None, "within the repository of something else");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "one"]);
    let expected = format!("{} of 2026-01-02", &git(&folder, &["rev-parse", "HEAD"])[..12]);
    assert_eq!(said().as_ref(), Some(&expected));
    fs::write(folder.join("new"), "").unwrap();
    assert_eq!(said().as_ref(), Some(&expected), "a file that git does not know");
    fs::write(folder.join(".gitattributes"), "cli/build/commit.txt export-subst\n\n").unwrap();
    assert_eq!(said(), Some(format!("{expected}, with changes")));
    assert!(commit::watched(&folder).contains(&folder.join("cli").display().to_string()));

    // An archive without git, as code hosts make it.
    git(&folder, &["archive", "-o", "../sources.tar", "HEAD"]);
    let unpacked = dir.path("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let tar = Command::new("tar").arg("-xf").arg(dir.path("sources.tar")).arg("-C").arg(&unpacked).status();
    assert!(tar.unwrap().success());
    assert_eq!(commit::commit(&unpacked), Some(expected));
}
