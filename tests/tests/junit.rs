//! The JUnit 5 extension in a real project (`tests/maven/budgets`): budgets and gates of single tests.

use std::fs;

use anyhow::{Context, Result, ensure};
use instrument_tests::maven::Builds;
use instrument_tests::subject;

/// The first line of the message of a test that failed: the kind of error is on the line before, or on the same.
fn failure<'s>(said: &'s str, test: &str) -> Option<&'s str> {
    let mut lines = said.lines().skip_while(|line| !line.contains(&format!("ERROR] {test}"))).skip(1);
    let first = lines.next()?;
    if first.ends_with(": ") { lines.next() } else { Some(first) }
}

#[test]
fn budgets_are_those_of_single_tests() -> Result<()> {
    let builds = Builds::new(&["api", "junit", "maven"], &["budgets"])?;
    let gate = builds.project("budgets").join("src/test/gates/total.gate");

    // The first run learns the gate, and what is beyond its budget fails.
    let arguments = ["test", "-Dinstrument.gateAction=learn", "-Dmaven.test.failure.ignore"];
    let said = builds.succeed("budgets", &arguments)?;
    ensure!(said.contains("Tests run: 12, Failures: 5, Errors: 1, Skipped: 0"), "{said}");
    for (test, message) in [
        (
            "shop.ExceededTest.rows",
            "`OrderService#total` calls `Connection#prepareStatement` 51 times; at most 1 is allowed; 50 come from `Item#price`",
        ),
        (
            "shop.ExceededTest.objects",
            "makes 53 objects; at most 20 are allowed; 51 come from `OrderService#list`",
        ),
        (
            "shop.ExceededTest.instructions",
            "`OrderService#list` executes 616 bytecodes; at most 500 are allowed",
        ),
        (
            "shop.ExceededTest.pool",
            "`OrderService#list` calls `Connection#prepareStatement` 20 times; at most 10 are allowed",
        ),
        (
            "shop.ExceededTest.together(int)[2]",
            "`OrderService#total` calls `Connection#prepareStatement` 8 times; at most 3 are allowed; 7 come from `Item#price`",
        ),
        ("shop.ExceededTest.misspelt", "did you mean"),
    ] {
        let first = failure(&said, test);
        ensure!(first.is_some_and(|line| line.contains(message)), "{test}: {first:?}\n{said}");
    }
    let learned = fs::read_to_string(&gate)?;
    ensure!(learned.contains("calls=11 bytecodes=33 shop.Connection.prepareStatement("), "{learned}");
    ensure!(!learned.contains("KeptTest.list"), "another test is none of it: {learned}");

    // Each test is a part of the profile, whose calls add up.
    let profiles = fs::read_dir(builds.project("budgets").join("target/instrument"))?.flatten();
    let profile =
        profiles.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "iprof"));
    let profile = profile.context("no profile")?;
    let balance = subject::call()?.args(["report", "--counts"]).arg(&profile).output()?;
    ensure!(balance.status.success(), "{balance:?}");
    let tree = subject::call()?
        .args(["--quiet", "xtree", "--prune", "0", "--width", "200"])
        .arg(&profile)
        .output()?;
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    for part in ["(boundary shop.KeptTest#total)", "(boundary shop.ExceededTest#together [2] 7)"] {
        ensure!(tree.contains(part), "{part}: {tree}");
    }

    // Without the recorder nothing is checked, and nothing fails.
    let said = builds.succeed("budgets", &["-o", "test", "-Dinstrument.skip"])?;
    ensure!(said.contains("Tests run: 12, Failures: 0, Errors: 0, Skipped: 0"), "{said}");

    // A change that the gate forbids.
    let source = builds.project("budgets").join("src/main/java/shop/OrderService.java");
    let list = "for (Item item : list(count)) {";
    let text = fs::read_to_string(&source)?;
    ensure!(text.contains(list), "{text}");
    fs::write(
        &source,
        text.replace(list, "for (Item item : list(count)) {\n            item.price(connection);"),
    )?;
    let (success, said) = builds.build("budgets", &["-o", "test", "-Dtest=KeptTest#total"])?;
    let first = failure(&said, "shop.KeptTest.total");
    let grown = "`OrderService#total` now calls `Item#price` 20 times, was 10";
    // It executes more as well.
    let guilty = first.is_some_and(|line| line.contains("`OrderService#total` now "));
    ensure!(!success && guilty && said.contains(grown), "{said}");
    Ok(())
}
