//! Which program a Java process runs, from its command (`sun.java.command`).

use crate::signature::parts;
use std::collections::BTreeSet;
use std::fmt::Display;

/// Whether a main class is that of `java Shop.java`, which compiles a source file in memory and runs it (JEP 330, JEP
/// 458).
fn is_source_launcher(class: &str) -> bool {
    class.rsplit('/').next().is_some_and(|class| class.starts_with("com.sun.tools.javac.launcher."))
}

/// The command of the program: without the main class of the JDK's source launcher in front of its source file.
pub fn command(command: &str) -> &str {
    match command.trim_start().split_once(char::is_whitespace) {
        Some((first, rest)) if is_source_launcher(first) && !rest.trim().is_empty() => rest.trim_start(),
        _ => command,
    }
}

/// The module whose tests a JVM runs that a build has started. Nothing else of its command is the same in the next
/// build.
fn tested_module<'a>(command: &'a str, directory: &'a str) -> Option<&'a str> {
    module_of_maven(command).or_else(|| module_of_gradle(command, directory))
}

/// Of Maven's surefire or failsafe plugin: `shop` of
/// `/src/shop/target/surefire/surefirebooter-2026-11-28T05-41-20_123.jar ..`.
fn module_of_maven(command: &str) -> Option<&str> {
    // Folders may have blanks in their names.
    let (folder, rest) = command.split_once("surefirebooter")?;
    let is_first = folder.is_empty() || folder.ends_with(['/', '\\']) && !folder.contains(".jar ");
    // Its jar lies in the module, or in the folder for temporary files; then the next word is a folder of the module.
    let places = [folder, rest.split_once(".jar ").map_or("", |(_, words)| words)];
    places.into_iter().filter(|_| is_first).find_map(|path| {
        let (module, _) = path.rsplit_once("/target/").or_else(|| path.rsplit_once("\\target\\"))?;
        module.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())
    })
}

/// Of Gradle's tests: `worker.org.gradle.process.internal.worker.GradleWorkerMain 'Gradle Test Executor 3'`, which
/// works in the folder of its module.
fn module_of_gradle<'a>(command: &str, directory: &'a str) -> Option<&'a str> {
    let (class, words) = command.trim_start().split_once(char::is_whitespace)?;
    let runs_tests = class.ends_with("GradleWorkerMain")
        && words.trim_start_matches('\'').starts_with("Gradle Test Executor");
    directory
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .filter(|name| runs_tests && !name.is_empty())
}

/// The class of tests that a method is of, without its package, if its name is one by which Maven finds tests.
fn test_class(method: &str) -> Option<&str> {
    let class = parts(method).0.rsplit('.').next()?.split('$').next()?;
    let is_test = ["Test", "IT"].iter().any(|start| class.starts_with(start))
        || ["Test", "Tests", "TestCase", "IT", "ITCase"].iter().any(|end| class.ends_with(end));
    is_test.then_some(class)
}

/// The program and its process in one line, for people: of a long command only the first [`MOST`] characters.
/// `directory`: where it works; empty: that is not known. `methods`: those that were recorded, of which those of tests
/// say which tests a build has run.
pub fn line<'a>(
    command: &str,
    directory: &str,
    pid: impl Display,
    methods: impl Iterator<Item = &'a str>,
) -> String {
    if let Some(module) = tested_module(command, directory) {
        let classes: BTreeSet<&str> = methods.filter_map(test_class).collect();
        let mut named: Vec<&str> = classes.iter().copied().take(MOST_TESTS).collect();
        if classes.len() > MOST_TESTS {
            named.push("..");
        }
        let tests = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
        return format!("tests of {module}{tests} (pid {pid})");
    }
    let command = self::command(command);
    let count = command.chars().count();
    if count <= MOST {
        return format!("{command} (pid {pid})");
    }
    let first: String = command.chars().take(MOST).collect();
    format!("{first}… (pid {pid}; the first {MOST} of {count} characters)")
}

/// Classes of tests that are named.
const MOST_TESTS: usize = 3;

/// Characters of a command that are printed.
pub const MOST: usize = 200;

/// The word that names the program: its jar, its main class, the source file that the JDK's source launcher runs, or
/// the module whose tests it runs. `directory`: where it works; empty: that is not known.
pub fn word<'a>(command: &'a str, directory: &'a str) -> Option<&'a str> {
    tested_module(command, directory).or_else(|| self::command(command).split_whitespace().next())
}

#[cfg(test)]
mod tests {
    use super::{MOST, command, word};
    use std::iter::empty;

    fn line(command: &str, directory: &str, pid: u32) -> String {
        super::line(command, directory, pid, empty())
    }

    #[test]
    fn the_source_launcher_is_not_the_program() {
        for (line, name) in [
            ("lib/app.jar --verbose", Some("lib/app.jar")),
            ("com.acme.Main Shop.java", Some("com.acme.Main")),
            ("jdk.compiler/com.sun.tools.javac.launcher.Main src/Shop.java 3", Some("src/Shop.java")),
            ("jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher Shop.java", Some("Shop.java")),
            (
                "jdk.compiler/com.sun.tools.javac.launcher.Main",
                Some("jdk.compiler/com.sun.tools.javac.launcher.Main"),
            ),
            ("", None),
        ] {
            assert_eq!(word(line, ""), name, "{line}");
        }
        let launched = "jdk.compiler/com.sun.tools.javac.launcher.Main src/Shop.java 3";
        assert_eq!(command(launched), "src/Shop.java 3");
        assert_eq!(command("com.acme.Main Shop.java"), "com.acme.Main Shop.java");
    }

    #[test]
    fn a_jvm_of_tests_is_called_after_its_module() {
        let jar = "surefirebooter-20261128054120123_3.jar";
        let rest = "2026-11-28T05-41-20_123-jvmRun1 surefire-20261128054120123_1tmp surefire_0-2026tmp";
        for (command, name) in [
            (format!("/src/shop/target/surefire/{jar} /src/shop/target/surefire {rest}"), "shop"),
            (format!("/tmp/surefire1/{jar} /src/shop/target/surefire {rest}"), "shop"),
            (format!(r"C:\src\shop\target\surefire\{jar} C:\src\shop\target\surefire {rest}"), "shop"),
            (format!("/my src/shop/target/surefire/{jar} /my src/shop/target/surefire {rest}"), "shop"),
            (format!("/ci/target/ws/shop/target/surefire/{jar} /x {rest}"), "shop"),
            (format!("/my tmp/{jar} /my src/shop/target/surefire {rest}"), "shop"),
            ("/src/shop/target/shop.jar".to_owned(), "/src/shop/target/shop.jar"),
        ] {
            assert_eq!(word(&command, ""), Some(name), "{command}");
        }
        let of_tests = format!("/src/shop/target/surefire/{jar} /src/shop/target/surefire {rest}");
        assert_eq!(line(&of_tests, "", 7), "tests of shop (pid 7)");
        let tests =
            ["a.ShopTest.sells()V", "a.ShopTest$1.run()V", "a.Shop.sell()V", "a.ITShop.a()V", "Latest.a()V"];
        let named = super::line(&of_tests, "", 7, tests.into_iter());
        assert_eq!(named, "tests of shop: ITShop, ShopTest (pid 7)");
        let more =
            super::line(&of_tests, "", 7, ["ATest.a()", "BTest.a()", "CTest.a()", "DTest.a()"].into_iter());
        assert_eq!(more, "tests of shop: ATest, BTest, CTest, .. (pid 7)");
        assert_eq!(word(jar, ""), Some(jar), "no module is known");
        let class = "worker.org.gradle.process.internal.worker.GradleWorkerMain";
        let [of_tests, compiler] = ["'Gradle Test Executor 3'", "'Gradle Compiler Daemon 1'"]
            .map(|words| format!("{class} {words}"));
        assert_eq!(word(&of_tests, "/src/shop/"), Some("shop"));
        assert_eq!(word(&of_tests.replace('\'', ""), r"C:\src\shop"), Some("shop"));
        assert_eq!(line(&of_tests, "/src/shop", 7), "tests of shop (pid 7)");
        assert_eq!((word(&of_tests, "/"), word(&compiler, "/src/shop")), (Some(class), Some(class)));
    }

    #[test]
    fn a_long_command_is_one_line() {
        assert_eq!(line("app.jar 3", "", 7), "app.jar 3 (pid 7)");
        let arguments = "é ".repeat(300);
        assert_eq!(line(&"é".repeat(MOST), "", 7), format!("{} (pid 7)", "é".repeat(MOST)));
        let expected = format!("app.jar {}… (pid 7; the first 200 of 608 characters)", "é ".repeat(96));
        assert_eq!(line(&format!("app.jar {arguments}"), "", 7), expected);
    }
}
