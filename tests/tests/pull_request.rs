//! `instrument diff --markdown`: what a pull request changes in bytecode, size and API, of what javac makes before and after.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_rewriter::archive::{NewEntry, create};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject::call;

const BEFORE: &str = "
    package com.acme;
    import java.util.List;
    public class Shop<T extends Comparable<T>> implements Runnable {
        public static final int LIMIT = 3;
        protected String name;
        int hidden;
        public Shop(String name) { this.name = name; }
        public final int price(String item, int[] counts) { return counts.length + item.length(); }
        public void run() { System.out.println(name); }
        protected static List<String> items(String... names) { return List.of(names); }
        void internal() { hidden++; }
        private void secret() { hidden--; }
        public static class Item { public int price; protected void load() { } }
        private static class Cache { public void clear() { } }
        static class Helper { public void help() { } }
    }
    class Unseen { public void anything() { } }";

/// Compiles the source, with files beside the class files.
fn compile(jdk: &Jdk, folder: &Path, source: &str) -> Result<PathBuf> {
    let classes = folder.join("classes");
    fs::create_dir_all(&classes)?;
    fs::write(folder.join("Shop.java"), source)?;
    jdk.tool("javac")
        .args(["--release", "11", "-Xlint:-options", "-d"])
        .arg(&classes)
        .arg(folder.join("Shop.java"))
        .run_quietly()?;
    Ok(classes)
}

/// The page, and the exit code.
fn page(before: &Path, after: &Path, options: &[&str]) -> Result<(String, i32)> {
    let output = call()?.args(["diff", "--markdown"]).args(options).args([before, after]).capture()?;
    let code = output.status.code().context("killed")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(errors.is_empty(), "{errors}");
    Ok((String::from_utf8(output.stdout)?, code))
}

fn says(page: &str, parts: &[&str]) -> Result<()> {
    for part in parts {
        ensure!(page.contains(part), "{part:?} is missing:\n{page}");
    }
    Ok(())
}

fn after_source() -> String {
    BEFORE
        .replace("public final int price", "public int price")
        .replace("int hidden;", "int hidden; public long sold;")
        .replace(
            "protected static List<String> items(String... names)",
            "protected static List<String> items(List<String> names)",
        )
        .replace("List.of(names)", "names")
        .replace("hidden++;", "hidden += 2; sold++;")
        .replace("private void secret() { hidden--; }", "private int secret() { return 7; }")
        .replace("protected void load() { }", "")
        .replace(
            "class Unseen",
            "interface Plain { int one(); } class Other { public void new1() { } } class Unseen",
        )
}

fn code_of(page: &str) -> Result<[i64; 2]> {
    let row = page.lines().find_map(|line| line.strip_prefix("| bytes of code | ")).context("no row")?;
    let numbers: Vec<i64> = row.split(" | ").take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok([numbers[0], numbers[1]])
}

/// A jar with two jars: of classes, and of those before.
fn outer(path: &Path, classes: &Path, before: &Path) -> Result<PathBuf> {
    let entry = |name: &str, data: Vec<u8>| NewEntry { name: name.to_owned(), data, stored: true };
    let jar = |classes: &Path| -> Result<Vec<u8>> {
        let mut entries = Vec::new();
        for file in fs::read_dir(classes.join("com/acme"))? {
            let file = file?;
            let name = format!("com/acme/{}", file.file_name().to_string_lossy());
            entries.push(entry(&name, fs::read(file.path())?));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(create(entries)?)
    };
    let entries = vec![entry("lib/shop.jar", jar(classes)?), entry("lib/same.jar", jar(before)?)];
    fs::write(path, create(entries)?)?;
    Ok(path.to_owned())
}

#[test]
fn sizes_api_and_methods_of_two_builds() -> Result<()> {
    let jdk = Jdk::default_kit()?;
    let work = tempfile::tempdir()?;
    let before = compile(jdk, &work.path().join("a"), BEFORE)?;
    let after = compile(jdk, &work.path().join("b"), &after_source())?;
    fs::write(after.join("notes.txt"), "new")?;

    let (same, code) = page(&before, &before, &[])?;
    ensure!(code == 0, "{same}");
    says(
        &same,
        &["### Bytecode: no class changed\n", "| classes | 5 | 5 |  |\n", "| methods | 0 | 0 | 0 |\n"],
    )?;
    ensure!(!same.contains("####") && !same.contains("<details>"), "{same}");

    let (text, code) = page(&before, &after, &[])?;
    ensure!(code == 1, "{text}");
    says(
        &text,
        &[
            "### Bytecode: 2 classes changed, 2 added, 0 removed\n",
            "| classes | 5 | 7 | +2 |\n",
            "| classes | 0 | 0 | 0 |\n| methods | 1 | 2 | 1 |\n| fields | 1 | 0 | 0 |\n",
            "#### Added classes\n\n- `com.acme.Other`\n- `com.acme.Plain`\n",
            "\n\nThe API is **not binary compatible**: 2 changes break compiled code and sources, 0 more only sources.\n\n",
            "#### API: breaks compiled code and sources\n\n- `protected static varargs java.util.List<String> com.acme.Shop.items(String[])`: is gone\n- `protected void com.acme.Shop$Item.load()`: is gone\n",
            "#### API: compatible\n\n- `public int com.acme.Shop.price(String, int[])` was `public final int com.acme.Shop.price(String, int[])`\n- `public long com.acme.Shop.sold` is new\n- `protected static java.util.List<String> com.acme.Shop.items(java.util.List<String>)` is new\n",
            "notes.txt` added\n",
            "<details><summary><code>com.acme.Shop.price(java.lang.String,int[])</code>: changed, +1 -1</summary>\n\n```diff\n@@ ",
            "\n-  flags 0x0011 public final\n+  flags 0x0001 public\n",
            "<code>com.acme.Shop.internal()</code>: changed",
            "<code>com.acme.Shop.secret()</code>: added",
        ],
    )?;
    for unseen in ["Cache.clear", "Helper.help", "anything", "Left out"] {
        ensure!(!text.contains(unseen), "{unseen} has not changed or is no API:\n{text}");
    }
    let [smaller, larger] = code_of(&text)?;
    ensure!(smaller > 0 && code_of(&same)? == [smaller; 2], "{text}");
    let (back, _) = page(&after, &before, &[])?;
    ensure!(code_of(&back)? == [larger, smaller], "{back}");
    says(&back, &["#### Removed classes\n\n- `com.acme.Other`", "| methods | 2 | 1 | 1 |\n"])?;

    // The same in a jar in a jar; an archive that did not change counts as well.
    let outer = |name: &str, classes: &Path| outer(&work.path().join(name), classes, &before);
    let (one, two) = (outer("one.jar", &before)?, outer("two.jar", &after)?);
    let (nested, _) = page(&one, &two, &[])?;
    says(&nested, &["| classes | 10 | 12 | +2 |\n", "| methods | 1 | 2 | 1 |\n"])?;
    ensure!(code_of(&nested)? == [2 * smaller, smaller + larger], "{nested}");

    let refused = call()?.args(["diff", "--markdown", "--json"]).args([&one, &two]).capture()?;
    ensure!(refused.status.code() == Some(2));
    Ok(())
}

/// A member of a class before and after, whom that breaks (`-`: nobody, `S`: sources, `B`: compiled code as well), and why.
const MEMBERS: &[(&str, &str, char, &str)] = &[
    (
        "List<String> a() { return null; }",
        "List<Integer> a() { return null; }",
        'S',
        "has other generic types",
    ),
    (
        "void a(Map<String, List<String>> x) { }",
        "void a(Map<String, List<Integer>> x) { }",
        'S',
        "has other generic types",
    ),
    ("<T> T a(T x) { return x; }", "<U> U a(U x) { return x; }", '-', ""),
    ("<T> void a() { }", "<T, U> void a() { }", 'S', "has other generic types"),
    ("void a() { }", "void a() throws java.io.IOException { }", 'S', "throws `java.io.IOException`"),
    ("void a() throws java.io.IOException { }", "void a() { }", 'S', "throws no `java.io.IOException`"),
    ("void a() { }", "void a() throws IllegalStateException { }", '-', ""),
    ("static final int A = 1;", "static final int A = 2;", '-', "compiled code keeps `1`"),
    ("static final int A = 1;", "static final int A = new Object().hashCode();", 'S', "is no constant"),
    ("int a;", "long a;", 'B', "has another type"),
    ("int a;", "final int a = 1;", 'B', "is final"),
    ("List<String> a;", "List<Integer> a;", 'S', "has other generic types"),
    ("void a() { }", "", 'B', "is gone"),
    ("void a() { }", "int a() { return 1; }", 'B', "has another result"),
    ("void a() { }", "protected void a() { }", 'B', "is less accessible"),
    ("void a() { }", "static void a() { }", 'B', "is static or no longer"),
    ("void a() { }", "final void a() { }", 'B', "is final"),
    ("void a() { }", "native void a();", '-', ""),
    ("void a(String... x) { }", "void a(String[] x) { }", 'S', "takes no variable number of arguments"),
    ("int inherited() { return 1; }", "", '-', "is inherited from `Base`"),
    ("String toString() { return null; }", "", '-', "is inherited from `Object`"),
    ("abstract void a();", "", 'B', "is gone"),
    ("", "abstract void a();", 'S', "subclasses must implement `a`"),
    ("", "void a() { }", '-', "is new"),
];

/// The same of classes, by name.
const CLASSES: &[(&str, &str, &str, char, &str)] = &[
    (
        "T1",
        "public class T1<T> { }",
        "public class T1<T extends Number> { }",
        'S',
        "has other type parameters",
    ),
    (
        "T2",
        "public class T2 implements Comparator<String> { public int compare(String a, String b) { return 0; } }",
        "public class T2 { public int compare(String a, String b) { return 0; } }",
        'B',
        "is no longer a `java.util.Comparator`",
    ),
    ("T3", "public class T3 { }", "public final class T3 { }", 'B', "can no longer be extended"),
    ("T4", "public class T4 { }", "public abstract class T4 { }", 'B', "is abstract"),
    ("T5", "public class T5 extends Exception { }", "public class T5 extends RuntimeException { }", '-', ""),
    (
        "T6",
        "public interface T6 { }",
        "public interface T6 { void a(); }",
        'S',
        "subclasses must implement `a`",
    ),
    ("T7", "public interface T7 { void a(); }", "public interface T7 { default void a() { } }", '-', ""),
    (
        "T8",
        "public class T8 { private T8() { } protected void a() { } }",
        "public final class T8 { private T8() { } }",
        '-',
        "",
    ),
    (
        "T9",
        "public @interface T9 { int a() default 1; }",
        "public @interface T9 { int a(); int b() default 2; }",
        'S',
        "has no default",
    ),
    ("T10", "public class T10 { }", "class T10 { }", 'B', "is gone"),
    (
        "T11",
        "public class T11 { public Object a() { return 1; } }",
        "public class T11 { public String a() { return null; } }",
        'B',
        "has another result",
    ),
    (
        "T12",
        "public class T12 implements java.util.concurrent.Callable<Object> { public Object call() { return 1; } }",
        "public class T12 implements java.util.concurrent.Callable<String> { public String call() { return null; } }",
        'S',
        "has another result",
    ),
];

/// Each kind of change of an API, and whom it breaks.
#[test]
fn what_breaks_whom() -> Result<()> {
    let jdk = Jdk::default_kit()?;
    let work = tempfile::tempdir()?;
    let class = |number: usize, member: &str| {
        let access = if member.is_empty() || member.starts_with("protected") { "" } else { "public " };
        format!("public abstract class Case{number} extends Base {{ {access}{member} }}")
    };
    let side =
        |name: &str, member: &dyn Fn(usize) -> &'static str, more: &[(&str, &str)]| -> Result<PathBuf> {
            let folder = work.path().join(name);
            let mut sources = vec![(
                "Base".to_owned(),
                "public class Base { public int inherited() { return 0; } }".to_owned(),
            )];
            sources.extend(
                (0..MEMBERS.len()).map(|number| (format!("Case{number}"), class(number, member(number)))),
            );
            sources.extend(more.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
            let mut javac = jdk.tool("javac");
            javac.args(["--release", "17", "-d"]).arg(folder.join("classes"));
            for (name, text) in sources {
                let file = folder.join(format!("{name}.java"));
                fs::create_dir_all(&folder)?;
                fs::write(&file, format!("import java.util.*; {text}"))?;
                javac.arg(file);
            }
            javac.run_quietly()?;
            Ok(folder.join("classes"))
        };
    let before = side(
        "a",
        &|number| MEMBERS[number].0,
        &CLASSES.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(),
    )?;
    let after = side(
        "b",
        &|number| MEMBERS[number].1,
        &CLASSES.iter().map(|row| (row.0, row.2)).collect::<Vec<_>>(),
    )?;
    let (text, _) = page(&before, &after, &[])?;
    let mut title = "";
    let mut found: Vec<(&str, &str)> = Vec::new();
    for line in text.lines() {
        title = line.strip_prefix("#### ").unwrap_or(title);
        found.extend(line.strip_prefix("- ").filter(|_| title.starts_with("API")).map(|row| (title, row)));
    }
    let expected = MEMBERS.iter().enumerate().map(|(number, case)| (format!("Case{number}"), case.2, case.3));
    for (class, verdict, why) in expected.chain(CLASSES.iter().map(|row| (row.0.to_owned(), row.3, row.4))) {
        let is_of = |row: &str| row.split(|c: char| !c.is_alphanumeric()).any(|word| word == class);
        let rows: Vec<_> = found.iter().filter(|(_, row)| is_of(row)).collect();
        let has = |start: &str| rows.iter().any(|(title, _)| title.starts_with(start));
        let worst = if has("API: breaks compiled") {
            'B'
        } else if has("API: breaks sources") {
            'S'
        } else {
            '-'
        };
        ensure!(worst == verdict, "{class}: {worst}, not {verdict}: {rows:?}");
        ensure!(
            rows.is_empty() == why.is_empty() || rows.iter().any(|(_, row)| row.ends_with(why)),
            "{class}: {why}: {rows:?}"
        );
    }
    Ok(())
}

/// Names of a class file may hold anything; in Markdown they are text, and the page has room in a comment whatever there is to say.
#[test]
fn hostile_names_are_text_and_the_page_is_bounded() -> Result<()> {
    let jdk = Jdk::default_kit()?;
    let work = tempfile::tempdir()?;
    let methods: String = (0..900)
        .map(|number| format!("public int method_{number}(int x) {{ return x * {number} + NUMBER; }}\n"))
        .collect();
    let source = format!("public class Shop {{ {methods} public void XXXXXXXXXXXXXXXXXXXXXXXXXXX() {{ }} }}");
    let before = compile(jdk, &work.path().join("a"), &source.replace("NUMBER", "1000"))?;
    let after = compile(
        jdk,
        &work.path().join("b"),
        &source.replace("NUMBER", "2000").replace("() { }", "() { run(); } private void run() { }"),
    )?;
    // As long as the name that it takes the place of.
    let hostile = b"``\n</code>@all <img>\x1b[2J``a";
    for classes in [&before, &after] {
        let path = classes.join("Shop.class");
        let mut class = fs::read(&path)?;
        let at = class.windows(27).position(|name| name.iter().all(|b| *b == b'X')).context("no name")?;
        class[at..at + 27].copy_from_slice(hostile);
        fs::write(path, class)?;
    }
    let (text, code) = page(&before, &after, &["-U", "0"])?;
    ensure!(code == 1);
    ensure!(text.len() <= 65_536 && text.len() > 50_000, "{} bytes", text.len());
    let end = text.lines().last().context("an empty page")?;
    ensure!(
        end.starts_with("Left out, for a comment has 65536 characters: ") && end.contains("of 902 changes"),
        "{end}"
    );
    let shown = text.matches("<details>").count();
    ensure!(shown > 100 && text.matches("</details>").count() == shown, "{shown}");
    ensure!(end.contains(&format!("{} of 902 changes", 902 - shown)), "{shown} shown, but {end}");
    ensure!(!text.contains('\u{1b}') && !text.contains("<img>"), "hostile text");

    // Alone, the method has room.
    let only = |source: &str| source.replace(&methods, "");
    let small = |name: &str, body: &str| -> Result<PathBuf> {
        let source = only(&source).replace("() { }", body);
        let classes = compile(jdk, &work.path().join(name), &source)?;
        let path = classes.join("Shop.class");
        let mut class = fs::read(&path)?;
        let at = class.windows(27).position(|name| name.iter().all(|b| *b == b'X')).context("no name")?;
        class[at..at + 27].copy_from_slice(hostile);
        fs::write(path, class)?;
        Ok(classes)
    };
    let (before, after) = (small("c", "() { }")?, small("d", "() { hashCode(); }")?);
    let (text, _) = page(&before, &after, &[])?;
    let summary = text.lines().find(|line| line.starts_with("<details>")).context("no details")?;
    ensure!(
        summary.contains("``\\u000a&lt;/code&gt;@all\\u0020&lt;img&gt;\\u001b[2J``a()</code>: changed"),
        "{summary}"
    );
    ensure!(text.contains("\n```diff\n") || text.contains("\n````diff\n"), "{text}");
    let (removed, _) = page(&before, work.path().join("a/classes").as_path(), &[])?;
    ensure!(removed.contains("#### API: "), "{removed}");
    Ok(())
}
