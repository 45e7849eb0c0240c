//! What the binary is built from, for `--version`; and the agent that it carries, if it is to carry one: `INSTRUMENT_CARRY_AGENT` says which.
//!
//! - Not set, or empty: none. A build of the whole workspace leaves the agent beside the binary.
//! - `build`: the agent is built here. `cargo install` installs binaries only, so `cli/.cargo/config.toml` asks for this.
//! - A path: this library.

#[path = "build/commit.rs"]
mod commit;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const VARIABLE: &str = "INSTRUMENT_CARRY_AGENT";

/// What the agent is made of; the folders of the workspace.
const SOURCES: [&str; 7] =
    ["agent-shim", "crates/control", "crates/names", "rewriter", "runtime-java", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    // What the feature brings is there on Linux only: one word for both.
    println!("cargo::rustc-check-cfg=cfg(processes)");
    if env::var_os("CARGO_FEATURE_PROCESSES").is_some()
        && env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux")
    {
        println!("cargo::rustc-cfg=processes");
    }
    facts();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = match env::var(VARIABLE).unwrap_or_default().as_str() {
        "" => None,
        "build" if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") => None,
        "build" => Some(build(&out)),
        path => Some(PathBuf::from(path)),
    };
    let text = match library {
        None => "None".to_owned(),
        Some(path) => {
            assert!(path.is_file(), "{VARIABLE}: there is no library at {}", path.display());
            let path = path.canonicalize().expect("it is there");
            println!("cargo::rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({path:?}))")
        }
    };
    std::fs::write(out.join("carried_agent.rs"), text).expect("OUT_DIR can be written");
}

/// Sets what `io/version.rs` prints. The same sources give the same words: no time, no folder, no machine.
fn facts() {
    let of_cargo = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let workspace = Path::new("..");
    let commit = if of_cargo("PROFILE") == "release" {
        // Whether something differs from the commit depends on every file.
        for path in commit::watched(workspace) {
            println!("cargo::rerun-if-changed={path}");
        }
        commit::commit(workspace).unwrap_or_else(|| "not known: built without git".to_owned())
    } else {
        // A build for every commit would be in the way of work.
        "not looked for: the debug profile".to_owned()
    };
    let compiler = Command::new(of_cargo("RUSTC")).arg("--version").output();
    let compiler =
        compiler.map_or_else(|_| String::new(), |said| String::from_utf8_lossy(&said.stdout).into_owned());
    let mut features: Vec<String> = Vec::new();
    if env::var_os("CARGO_FEATURE_PROCESSES").is_some() {
        features.push("processes".to_owned());
    }
    if !env::var(VARIABLE).unwrap_or_default().is_empty() {
        features.push("carries its agent".to_owned());
    }
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    for (name, value) in [
        ("COMMIT", &*commit),
        ("TARGET", &of_cargo("TARGET")),
        ("FEATURES", &features),
        ("COMPILER", compiler.trim()),
    ] {
        println!("cargo::rustc-env=INSTRUMENT_{name}={value}");
    }
}

/// Builds the agent with the same cargo, profile, target and flags, into a folder of its own: that of the workspace is locked by the
/// build that runs this.
fn build(out: &Path) -> PathBuf {
    let workspace = Path::new("..");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    let of_cargo = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let (target, profile) = (of_cargo("TARGET"), of_cargo("PROFILE"));
    let folder = out.join("agent");
    let mut cargo = Command::new(of_cargo("CARGO"));
    cargo.args(["build", "--locked", "--package", "instrument-agent", "--target", &target]);
    if profile == "release" {
        cargo.arg("--release");
    }
    cargo.arg("--target-dir").arg(&folder).current_dir(workspace);
    // A library within a binary: what only debuggers read would be most of it.
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo").env("CARGO_PROFILE_DEV_STRIP", "debuginfo");
    // Of clippy and the like: they check the agent when it is their turn.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove(VARIABLE);
    let status = cargo.status().unwrap_or_else(|error| panic!("cannot run {cargo:?}: {error}"));
    assert!(
        status.success(),
        "the agent cannot be built: {status}; {VARIABLE}= (empty) builds a binary without it"
    );
    folder.join(target).join(profile).join("libinstrument_agent.so")
}
