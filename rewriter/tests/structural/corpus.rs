//! Classes of the JDK's runtime image and of the jars on this machine.

use instrument_rewriter::archive::{self, Limits};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modules of the JDK that are looked at in a normal run, besides java.base.
const MODULES: [&str; 5] = ["java.logging", "java.rmi", "java.sql", "java.xml", "jdk.compiler"];

/// Whether everything is wanted.
pub(crate) fn full() -> bool {
    std::env::var_os("INSTRUMENT_CORPUS_FULL").is_some_and(|value| value == "1")
}

/// The home of the JDK that `java` belongs to.
pub(crate) fn java_home() -> Option<PathBuf> {
    if let Some(home) =
        std::env::var_os("JAVA_HOME").map(PathBuf::from).filter(|home| home.join("bin/java").exists())
    {
        return Some(home);
    }
    let path = std::env::var_os("PATH")?;
    let java = std::env::split_paths(&path).map(|folder| folder.join("java")).find(|java| java.exists())?;
    Some(std::fs::canonicalize(java).ok()?.parent()?.parent()?.to_path_buf())
}

/// Hands every class of the JDK to `visit`, with a name for messages. `false` if there is no JDK.
pub(crate) fn visit_jdk(scratch: &Path, visit: &mut dyn FnMut(&str, &[u8]) -> ControlFlow<()>) -> bool {
    let Some(home) = java_home() else { return false };
    let mut command = Command::new(home.join("bin/jimage"));
    command.arg("extract").arg("--dir").arg(scratch);
    if !full() {
        let modules = MODULES.iter().chain(&["java.base"]);
        let patterns: Vec<String> = modules.map(|module| format!("regex:/{module}/.*")).collect();
        command.arg("--include").arg(patterns.join(","));
    }
    let done = command.arg(home.join("lib/modules")).output();
    if !done.is_ok_and(|output| output.status.success()) {
        return false;
    }
    let _ = visit_folder(scratch, visit);
    true
}

fn visit_folder(folder: &Path, visit: &mut dyn FnMut(&str, &[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return ControlFlow::Continue(()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            visit_folder(&path, visit)?;
        } else if path.extension().is_some_and(|extension| extension == "class")
            && let Ok(bytes) = std::fs::read(&path)
        {
            visit(&path.to_string_lossy(), &bytes)?;
        }
    }
    ControlFlow::Continue(())
}

/// The jars on this machine, links and copies once.
pub(crate) fn jars() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("/usr/share/java")];
    if let Some(home) = std::env::var_os("HOME") {
        folders.push(Path::new(&home).join(".m2/repository"));
    }
    let mut jars = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for path in entries.flatten().filter_map(|entry| std::fs::canonicalize(entry.path()).ok()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jar") {
                jars.insert(path);
            }
        }
    }
    jars.into_iter().collect()
}

/// Hands every class of a jar to `visit`.
pub(crate) fn visit_jar(jar: &Path, visit: &mut dyn FnMut(&str, &[u8]) -> ControlFlow<()>) {
    let Ok(bytes) = std::fs::read(jar) else { return };
    let name = jar.to_string_lossy();
    // An archive that cannot be read is the business of the archive tests.
    let _ = archive::visit_classes(&name, &bytes, &Limits::default(), &mut |class| {
        visit(&class.at.to_string(), class.bytes)
    });
}
