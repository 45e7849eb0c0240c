//! Lists the compiled runtime classes, so that binaries carry them: no JVM is needed to rewrite.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    // Relative to the package: a target directory may be copied to another checkout.
    let root = Path::new("classes");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut classes = Vec::new();
    collect(root, &mut classes);
    classes.sort();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (folder, file) in [("runtime", "runtime_classes.rs"), ("launcher", "launcher_classes.rs")] {
        let of_folder: Vec<_> =
            classes.iter().filter(|class| class.starts_with(root.join("instrument").join(folder))).collect();
        assert!(!of_folder.is_empty(), "no compiled classes of instrument/{folder}");
        let mut list = String::from("&[\n");
        for class in of_folder {
            let name =
                class.strip_prefix(root).expect("found below the root").to_string_lossy().replace('\\', "/");
            let path = format!("/classes/{name}");
            writeln!(
                list,
                "    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),"
            )
            .expect("a string grows");
        }
        list.push(']');
        std::fs::write(out.join(file), list).expect("OUT_DIR can be written");
    }
}

fn collect(directory: &Path, classes: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, classes);
        } else if path.extension().is_some_and(|extension| extension == "class") {
            classes.push(path);
        }
    }
}
