//! What the binary does without looking at programs that run. `./x test` runs this twice: with the whole binary, and with one that was built
//! with `--no-default-features`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_rewriter::archive::{NewEntry, create};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject::call;

const SOURCE: &str = "
    public class Shop {
        public static void main(String[] arguments) { for (int i = 0; i < 100; i++) price(i); System.out.println(\"sold\"); }
        static int price(int of) { return of * 2; }
    }";

/// What a command prints; it has to end with `code`.
fn says(folder: &Path, code: i32, arguments: &[&str]) -> Result<String> {
    let output = call()?.current_dir(folder).args(arguments).capture()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(code), "{arguments:?}: {:?}: {errors}", output.status.code());
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn rewrites_verifies_compares_reports_exports_shows_and_gates() -> Result<()> {
    let jdk = Jdk::default_kit()?;
    let work = tempfile::tempdir()?;
    let at = work.path();
    fs::write(at.join("Shop.java"), SOURCE)?;
    jdk.tool("javac")
        .args(["--release", "11", "-Xlint:-options", "-d"])
        .arg(at)
        .arg(at.join("Shop.java"))
        .run_quietly()?;
    let entry = |name: &str, data: Vec<u8>| NewEntry { name: name.to_owned(), data, stored: true };
    let manifest = b"Manifest-Version: 1.0\r\nMain-Class: Shop\r\n\r\n".to_vec();
    let entries =
        vec![entry("META-INF/MANIFEST.MF", manifest), entry("Shop.class", fs::read(at.join("Shop.class"))?)];
    fs::write(at.join("shop.jar"), create(entries)?)?;

    says(at, 0, &["shop.jar"])?;
    says(at, 0, &["verify", "shop-instrumented.jar"])?;
    ensure!(
        says(at, 1, &["diff", "--method", "price", "shop.jar", "shop-instrumented.jar"])?
            .contains("method price:(I)I")
    );
    ensure!(says(at, 0, &["dump", "shop.jar", "Shop"])?.contains("class Shop"));
    for _ in 0..3 {
        let output = jdk.brief_java().current_dir(at).args(["-jar", "shop-instrumented.jar"]).capture()?;
        ensure!(output.stdout == b"sold\n", "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut profiles = Vec::new();
    for file in fs::read_dir(at)? {
        let name = file?.file_name().into_string().ok().context("a name")?;
        profiles.extend(name.ends_with(".iprof").then_some(name));
    }
    ensure!(profiles.len() == 3, "{profiles:?}");
    let one = profiles[0].as_str();
    for command in ["report", "xprof", "xtree", "stats"] {
        ensure!(says(at, 0, &[command, one])?.contains("price"), "{command}");
    }
    says(at, 0, &["export", "--format", "speedscope", "-o", "shop.json", one])?;
    ensure!(fs::read_to_string(at.join("shop.json"))?.contains("price"));
    says(at, 0, &["view", "--html", "shop.html", one])?;
    ensure!(fs::read_to_string(at.join("shop.html"))?.starts_with("<!"));
    let learn = ["gate", "learn", "-o", "shop.gate", &profiles[0], &profiles[1], &profiles[2]];
    says(at, 0, &learn)?;
    says(at, 0, &["gate", "check", "shop.gate", one])?;
    Ok(())
}

#[test]
fn a_binary_for_any_system_has_no_commands_for_programs_that_run() -> Result<()> {
    let help = says(Path::new("/"), 0, &["--help"])?;
    let has = |command: &str| help.lines().any(|line| line.trim_start().starts_with(&format!("{command} ")));
    let is_whole = std::env::var_os("INSTRUMENT_ANY_SYSTEM").is_none();
    for command in ["run", "attach", "ctl", "agent"] {
        ensure!(has(command) == is_whole, "{command}:\n{help}");
    }
    ensure!(has("rewrite") && has("gate") && has("view"), "{help}");
    Ok(())
}
