//! Names of methods, classes and threads: every form that is printed is accepted, and a pattern that fits nothing is never silent.

use crate::common::{Dir, Run};
use instrument_names::id_map::{IdMap, MethodInfo, gz};
use instrument_testing::{Script, Writer};
use instrument_trace::{Link, LinkKind};

/// Ids 1 to 4: `price(int)`, `price(T)` and `close()` of `com.acme.Shop`, and the constructor of `com.acme.Shop$Till`.
fn id_map() -> Vec<u8> {
    let mut map = IdMap::new();
    for (class, methods) in [
        ("com/acme/Shop", &[("price", "(I)V"), ("price", "(Lq/T;)[I"), ("close", "()V")][..]),
        ("com/acme/Shop$Till", &[("<init>", "(Lcom/acme/Shop;)V")]),
    ] {
        let class = map.begin_class(class.as_bytes(), None).unwrap();
        for (name, descriptor) in methods {
            let (name, descriptor) = (name.as_bytes(), descriptor.as_bytes());
            map.assign(class, &MethodInfo { name, descriptor, line: 0, flags: 1, fingerprint: 0 }).unwrap();
        }
    }
    let mut text = Vec::new();
    map.write_part(vec![1, 2, 3, 4], &mut text);
    gz::compress(&text)
}

/// A process in which a thread calls each of the four once.
fn profile() -> Vec<u8> {
    let script = (1..=4).fold(Script::new(1000), |s, id| s.call(id, |s| s.wait(100)));
    let mut writer = Writer::new();
    writer.id_map(&id_map());
    writer.tree("main", &script.wait(1));
    writer.property("command", "shop.jar").property("record", "tree");
    writer.clocks(0, 5000);
    writer.finish()
}

/// The methods of a table, without the types of their parameters.
fn methods(run: &Run) -> Vec<&str> {
    let words =
        run.stdout.lines().filter_map(|line| line.split_whitespace().find(|w| w.starts_with("com.acme")));
    words.collect()
}

#[test]
fn every_form_that_is_printed_is_accepted() {
    let dir = Dir::new();
    dir.write("a", profile());
    for (patterns, expected) in [
        (
            &[
                "com.acme.Shop.price(int)",
                "com.acme.Shop#price(I)",
                "com.acme.Shop.price(I)V",
                "com/acme/Shop#price(I)V",
                "com.acme.Shop.price:(I)V",
                "c.a.Shop.price(int)",
                "Shop.price(int)",
                "com.acme.Shop.price(int): void",
            ][..],
            &["com.acme.Shop.price(int)"][..],
        ),
        (
            &["com.acme.Shop.price(T)", "com.acme.Shop.price(q.T)", "com.acme.Shop.price(Lq/T;)[I"],
            &["com.acme.Shop.price(T)"],
        ),
        (
            &[
                "com.acme.Shop.price",
                "com.acme.Shop#price",
                "com.acme.Shop.price(\u{2026})",
                "com.acme.Shop.price(..)",
                "com.\u{2026}.price(\u{2026})",
            ],
            &["com.acme.Shop.price(int)", "com.acme.Shop.price(T)"],
        ),
        (
            &["com.acme.Shop.Till", "com.acme.Shop$Till.<init>(Shop)", "com.acme.Shop.Till.<init>"],
            &["com.acme.Shop$Till.<init>(Shop)"],
        ),
    ] {
        for pattern in patterns {
            for command in ["xprof", "stats", "xarc"] {
                let run = dir.run(&[command, "--strict", "--method", pattern, "a"]).expect(0);
                assert_eq!(run.stderr, "", "{command} {pattern}");
                if command == "xprof" {
                    assert_eq!(methods(&run), expected, "{pattern}: {}", run.stdout);
                }
            }
            dir.run(&["diff", "--strict", "--method", pattern, "a", "a"]).expect(0);
        }
    }
    // What the report prints and what the JSON says are patterns themselves.
    let json = dir.run(&["xprof", "--json", "a"]).expect(0).json();
    let text = json.to_string();
    for name in [
        "com.acme.Shop.price(I)V",
        "com.acme.Shop.price(Lq/T;)[I",
        "com.acme.Shop$Till.<init>(Lcom/acme/Shop;)V",
    ] {
        assert!(text.contains(name), "{text}");
        assert_eq!(
            methods(&dir.run(&["xprof", "--strict", "--method", name, "a"]).expect(0)).len(),
            1,
            "{name}"
        );
    }
}

#[test]
fn a_pattern_that_fits_nothing_is_a_warning_with_the_names_near_it() {
    let dir = Dir::new();
    dir.write("a", profile());
    for (pattern, near) in [
        ("com.acme.Shop.prize(int)", "; did you mean com.acme.Shop.price(T) or com.acme.Shop.price(int)?"),
        ("Shop#colse", "; did you mean com.acme.Shop.close()"),
        ("com.acme.Shop.close(int)", "; did you mean com.acme.Shop.close()"),
        ("org.zzz.**", ""),
    ] {
        for command in ["xprof", "xtree", "xarc", "stats"] {
            let said = format!("warning: no method fits --method '{pattern}'{near}");
            let run = dir.run(&[command, "--method", pattern, "a"]).expect(0);
            assert!(run.stderr.starts_with(&said), "{command}: {}", run.stderr);
            dir.run(&[command, "--strict", "--method", pattern, "a"]).says(3, &[&said]);
        }
        dir.run(&["diff", "--method", pattern, "a", "a"]).says(0, &["no method fits", near]);
        dir.run(&["diff", "--strict", "--method", pattern, "a", "a"]).says(3, &["no method fits"]);
    }
    let run = dir.run(&["xtree", "--strict", "--focus", "Shop.colse()", "a"]);
    run.says(2, &["no method fits --focus 'Shop.colse()'; did you mean com.acme.Shop.close()?"]);
    dir.run(&["xtree", "--strict", "--focus", "Shop.close()", "a"]).expect(0);
    dir.run(&["xprof", "--thread", "mian", "--strict", "a"])
        .says(3, &["no thread fits --thread 'mian'; did you mean main?"]);
    dir.run(&["xprof", "--thread", "m?i*", "--strict", "a"]).expect(0);
    dir.run(&["report", "--thread", "mian", "--strict", "a"]).says(3, &["did you mean main?"]);
}

#[test]
fn links_are_named_as_they_are_printed() {
    let dir = Dir::new();
    // The second method ran when recording began, and calls the third one.
    let script = Script::new(1000).enter_link(1).call(3, |s| s.wait(100)).leave_link(1);
    let mut writer = Writer::new();
    writer.id_map(&id_map());
    writer.tree("main", &script.wait(1));
    writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::Running, thread: 0, node: 0, clock: 0 }]);
    writer.property("running.1", "2").property("command", "shop.jar").property("record", "tree");
    writer.clocks(0, 5000);
    dir.write("a", writer.finish());
    let shown = "(running com.acme.Shop.price(T))";
    let callee = "com.acme.Shop.close()";
    for name in [shown, "(running com.acme.Shop.price(Lq/T;)[I)"] {
        let shown_by = |command: &str, option: &str, expected: &[&str]| {
            let run = dir.run(&[command, "--strict", option, name, "a"]).expect(0);
            assert!(expected.iter().all(|text| run.stdout.contains(text)), "{command}: {}", run.stdout);
            run.stdout
        };
        assert!(!shown_by("xprof", "--method", &[shown]).contains(callee));
        shown_by("xarc", "--method", &[shown, callee]);
        shown_by("xtree", "--focus", &[shown, callee]);
        shown_by("stats", "--method", &["links have no calls of their own"]);
    }
    let report = dir.line("report --width 0 a").expect(0).stdout;
    assert!(report.contains("\nran already com.acme.Shop.price(T); what these calls did before"), "{report}");
    dir.run(&["xprof", "--method", "(runing com.acme.Shop.price(T))", "a"])
        .says(0, &[&format!("did you mean {shown}?")]);
    // What fits methods and classes fits no link.
    for pattern in ["**", "*", "com.acme.Shop.price(T)"] {
        let run = dir.run(&["xprof", "--method", pattern, "a"]);
        assert!(!run.stdout.contains("running com"), "{pattern}: {}", run.stdout);
    }
}

#[test]
fn an_empty_table_says_why() {
    let dir = Dir::new();
    let mut writer = Writer::new();
    writer.property("record", "tree");
    writer.clocks(0, 5000);
    dir.write("none", writer.finish());
    dir.line("xprof none").says(0, &["warning: no call of a method was recorded"]);
}

#[test]
fn the_methods_of_classes_are_named_in_the_same_way() {
    let dir = Dir::new();
    let old = include_bytes!("../../fuzz/corpus/class_scan/Old.class");
    dir.jar("a.jar", &[("Old.class", old)]);
    let expected = dir.line("dump --no-pool --method wide a.jar").expect(0).stdout;
    assert!(expected.contains("method wide:(I)I"), "{expected}");
    for pattern in ["wide(int)", "wide:(I)I", "Old.wide(int)", "Old#wide(I)I", "w*", "Old.wide(\u{2026})"] {
        let run = dir.run(&["dump", "--no-pool", "--method", pattern, "a.jar"]).expect(0);
        assert_eq!(run.stdout, expected, "{pattern}");
        dir.run(&["diff", "--method", pattern, "a.jar", "a.jar"]).expect(0);
    }
    dir.line("dump --method wdie a.jar")
        .says(1, &["no method fits --method 'wdie'; did you mean Old.wide(int)?"]);
    dir.line("diff --method wdie a.jar a.jar").says(1, &["did you mean Old.wide(int)?"]);
    dir.line("dump a.jar com.Old").says(1, &["a.jar: no class fits com.Old; did you mean Old?"]);
}
