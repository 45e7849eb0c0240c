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

#[test]
fn sizes_api_and_methods_of_two_builds() -> Result<()> {
    let jdk = Jdk::default_kit()?;
    let work = tempfile::tempdir()?;
    let before = compile(jdk, &work.path().join("a"), BEFORE)?;
    let after = BEFORE
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
        );
    let after = compile(jdk, &work.path().join("b"), &after)?;
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
            "#### API: removed\n\n- `protected void com.acme.Shop$Item.load()`\n- `protected static varargs List com.acme.Shop.items(java.lang.String[])`\n",
            "#### API: changed\n\n- `public int com.acme.Shop.price(java.lang.String,int[])` was `public final int com.acme.Shop.price(java.lang.String,int[])`\n",
            "#### API: added\n\n- `public long com.acme.Shop.sold`\n- `protected static List com.acme.Shop.items(java.util.List)`\n",
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
    let code_of = |page: &str| -> Result<[i64; 2]> {
        let row = page.lines().find_map(|line| line.strip_prefix("| bytes of code | ")).context("no row")?;
        let numbers: Vec<i64> = row.split(" | ").take(2).map(str::parse).collect::<Result<_, _>>()?;
        Ok([numbers[0], numbers[1]])
    };
    let [smaller, larger] = code_of(&text)?;
    ensure!(smaller > 0 && code_of(&same)? == [smaller; 2], "{text}");
    let (back, _) = page(&after, &before, &[])?;
    ensure!(code_of(&back)? == [larger, smaller], "{back}");
    says(&back, &["#### Removed classes\n\n- `com.acme.Other`", "| methods | 2 | 1 | 1 |\n"])?;

    // The same in a jar in a jar; an archive that did not change counts as well.
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
    let outer = |name: &str, inner: Vec<u8>| -> Result<PathBuf> {
        let path = work.path().join(name);
        let entries = vec![entry("lib/shop.jar", inner), entry("lib/same.jar", jar(&before)?)];
        fs::write(&path, create(entries)?)?;
        Ok(path)
    };
    let (one, two) = (outer("one.jar", jar(&before)?)?, outer("two.jar", jar(&after)?)?);
    let (nested, _) = page(&one, &two, &[])?;
    says(&nested, &["| classes | 10 | 12 | +2 |\n", "| methods | 1 | 2 | 1 |\n"])?;
    ensure!(code_of(&nested)? == [2 * smaller, smaller + larger], "{nested}");

    let refused = call()?.args(["diff", "--markdown", "--json"]).args([&one, &two]).capture()?;
    ensure!(refused.status.code() == Some(2));
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
