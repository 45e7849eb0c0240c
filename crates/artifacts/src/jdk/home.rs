//! A copy of a JDK's home directory, without what is made anew in it.

use crate::tree::Tree;
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The module image, below the home directory.
pub const IMAGE: &str = "lib/modules";

/// The archives of shared class data of a JDK, below its home directory.
pub fn archives(home: &Path) -> Result<Vec<PathBuf>> {
    Ok(archives_of(&Tree::read(home)?))
}

fn archives_of(tree: &Tree) -> Vec<PathBuf> {
    tree.others.iter().filter(|path| is_archive(path)).cloned().collect()
}

fn is_archive(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("jsa"))
}

/// Copies everything but the module image and the archives of shared class data. `home` is a canonical path.
///
/// Links that lead out of the directory lead to the same place: where they say how to get there from here, they say
/// where it is instead.
pub fn copy(home: &Path, to: &Path) -> Result<()> {
    let mut tree = Tree::read(home)?;
    tree.others.retain(|path| path != Path::new(IMAGE) && !is_archive(path));
    tree.copy_all(home, to)?;
    for link in &tree.links {
        let target = fs::read_link(home.join(link)).with_context(|| home.join(link).display().to_string())?;
        if let Some(place) = place_outside(link, &target, home) {
            let copied = to.join(link);
            let relink = || {
                fs::remove_file(&copied)?;
                std::os::unix::fs::symlink(&place, &copied)
            };
            relink().with_context(|| copied.display().to_string())?;
        }
    }
    Ok(())
}

/// Where a relative link leads, if that is outside of the directory it lies in.
fn place_outside(link: &Path, target: &Path, home: &Path) -> Option<PathBuf> {
    if target.is_absolute() {
        return None;
    }
    let mut place = home.join(link.parent()?);
    for part in target.components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            Component::Normal(name) => place.push(name),
            _ => {}
        }
    }
    (!place.starts_with(home)).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_where_they_led_and_the_input_stays() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let home = root.join("jvm/jdk");
        fs::create_dir_all(home.join("lib/server")).unwrap();
        fs::write(root.join("jvm/src.zip"), "sources").unwrap();
        for (path, content) in [(IMAGE, "image"), ("lib/server/classes.jsa", "archive"), ("release", "r")] {
            fs::write(home.join(path), content).unwrap();
        }
        symlink("../../src.zip", home.join("lib/src.zip")).unwrap();
        symlink("../release", home.join("lib/inside")).unwrap();
        symlink("/nowhere/at/all", home.join("lib/absolute")).unwrap();
        let copied = root.join("elsewhere");
        fs::create_dir(&copied).unwrap();
        copy(&home, &copied).unwrap();
        let link = |path: &str| fs::read_link(copied.join(path)).unwrap();
        assert_eq!(fs::read_to_string(copied.join("lib/src.zip")).unwrap(), "sources");
        assert_eq!(link("lib/inside"), Path::new("../release"));
        assert_eq!(link("lib/absolute"), Path::new("/nowhere/at/all"));
        assert!(!copied.join(IMAGE).exists() && !copied.join("lib/server/classes.jsa").exists());
        assert_eq!(archives(&home).unwrap(), [Path::new("lib/server/classes.jsa")]);
        assert_eq!(fs::read_to_string(home.join(IMAGE)).unwrap(), "image");
    }
}
