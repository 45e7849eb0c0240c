//! The id map through its public face: ids that stay, text that comes back, files that were torn or damaged.

use instrument_names::id_map::{ClassIds, HEADER, IdMap, IdMapErrorKind, MAX_ID, MethodInfo};
use proptest::prelude::*;
use std::time::Instant;

fn method<'a>(name: &'a str, descriptor: &'a str, fingerprint: u64) -> MethodInfo<'a> {
    MethodInfo {
        name: name.as_bytes(),
        descriptor: descriptor.as_bytes(),
        line: 7,
        flags: 0x1009,
        fingerprint,
    }
}

fn class(map: &mut IdMap, name: &str) -> ClassIds {
    map.begin_class(name.as_bytes(), Some(b"Foo.java")).unwrap()
}

fn all(map: &IdMap) -> String {
    let mut out = Vec::new();
    map.write_all(&mut out);
    String::from_utf8(out).unwrap()
}

fn new(map: &IdMap) -> String {
    let mut out = Vec::new();
    map.write_new(&mut out);
    String::from_utf8(out).unwrap()
}

const TWO: &str = "instrument ids 1\n\
    class a/Foo Foo.java\n\
    1 <init> ()V 7 1009 0000000000000001\n\
    2 run (I)V 7 1009 00000000000000ff\n\
    class a/Bar -\n\
    3 run (I)V 7 1009 ffffffffffffffff\n";

fn two() -> IdMap {
    let mut map = IdMap::new();
    let of_foo = class(&mut map, "a/Foo");
    assert_eq!(map.assign(of_foo, &method("<init>", "()V", 1)), Ok(1));
    assert_eq!(map.assign(of_foo, &method("run", "(I)V", 255)), Ok(2));
    let bar = map.begin_class(b"a/Bar", None).unwrap();
    assert_eq!(map.assign(bar, &method("run", "(I)V", u64::MAX)), Ok(3));
    map
}

#[test]
fn a_method_and_calls_of_it_have_ids_of_their_own() {
    let mut map = two();
    assert_eq!(map.assign_library_call(b"a/Bar", b"run", b"(I)V", false), Ok(4));
    assert_eq!(map.assign_library_call(b"java/util/List", b"size", b"()I", true), Ok(5));
    assert_eq!(map.assign_library_call(b"a/Foo", b"new", b"()V", false), Ok(6));
    let foo = class(&mut map, "a/Foo");
    assert_eq!(map.assign(foo, &method("new", "()V", 1)), Ok(7));
    assert_eq!(map.assign_library_call(b"a/Bar", b"run", b"(I)V", false), Ok(4));
    let text = all(&map);
    let new = "class a/Bar -\n\
        3 run (I)V 7 1009 ffffffffffffffff\n\
        4 run (I)V 0 10000 0000000000000000\n\
        class java/util/List -\n\
        5 size ()I 0 30000 0000000000000000\n\
        class a/Foo Foo.java\n\
        6 new ()V 0 10000 0000000000000000\n\
        7 new ()V 7 1009 0000000000000001\n";
    assert!(text.ends_with(new), "{text}");
    let read = IdMap::parse(text.as_bytes()).unwrap();
    assert_eq!(all(&read), text);
    assert_eq!(
        (read.find(b"a/Bar", b"run", b"(I)V"), read.find(b"a/Foo", b"new", b"()V")),
        (Some(3), Some(7))
    );
    assert_eq!(read.find(b"java/util/List", b"size", b"()I"), None);
    let calls = read.iter().filter(|entry| entry.method.is_library_call()).map(|entry| entry.id);
    assert_eq!(calls.collect::<Vec<_>>(), [4, 5, 6]);
}

#[test]
fn the_text_is_as_documented_and_reads_back() {
    assert_eq!(all(&two()), TWO);
    let map = IdMap::parse(TWO.as_bytes()).unwrap();
    assert_eq!(map.len(), 3);
    assert_eq!(map.valid_len(), TWO.len());
    assert_eq!(all(&map), TWO);
    assert_eq!(new(&map), "", "nothing to append");
    assert_eq!(map.find(b"a/Bar", b"run", b"(I)V"), Some(3));
    assert_eq!(map.find(b"a/Bar", b"run", b"(J)V"), None);
    assert_eq!(map.find(b"a/Baz", b"run", b"(I)V"), None);
    let entry = map.lookup(2).unwrap();
    assert_eq!((entry.class, entry.source), (&b"a/Foo"[..], Some(&b"Foo.java"[..])));
    assert_eq!(entry.method, method("run", "(I)V", 255));
    assert_eq!(map.lookup(0), None);
    assert_eq!(map.lookup(4), None);
}

#[test]
fn a_known_method_keeps_its_id_and_only_news_are_appended() {
    let mut map = IdMap::parse(TWO.as_bytes()).unwrap();
    let bar = map.begin_class(b"a/Bar", None).unwrap();
    assert_eq!(map.assign(bar, &method("run", "(I)V", u64::MAX)), Ok(3));
    assert_eq!(new(&map), "");
    assert_eq!(map.assign(bar, &method("stop", "()V", 5)), Ok(4));
    let of_foo = class(&mut map, "a/Foo");
    assert_eq!(map.assign(of_foo, &method("run", "(I)V", 256)), Ok(2), "its body has changed");
    assert_eq!(map.assign(of_foo, &method("new", "()V", 6)), Ok(5));
    let appended = "class a/Foo Foo.java\n2 run (I)V 7 1009 0000000000000100\n\
        class a/Bar -\n4 stop ()V 7 1009 0000000000000005\n\
        class a/Foo Foo.java\n5 new ()V 7 1009 0000000000000006\n";
    assert_eq!(new(&map), appended);
    let again = IdMap::parse(format!("{TWO}{appended}").as_bytes()).unwrap();
    assert_eq!(all(&again), all(&map));
    assert_eq!(again.lookup(2).unwrap().method.fingerprint, 256, "the last line counts");
    assert_eq!(new(&again), "");
}

#[test]
fn the_last_source_file_counts_and_flapping_leaves_no_trace() {
    let mut map = IdMap::parse(TWO.as_bytes()).unwrap();
    map.begin_class(b"a/Foo", Some(b"Moved.java")).unwrap();
    assert_eq!(new(&map), "class a/Foo Moved.java\n");
    assert!(IdMap::parse(format!("{TWO}{}", new(&map)).as_bytes()).is_ok());
    let of_foo = map.begin_class(b"a/Foo", Some(b"Foo.java")).unwrap();
    map.assign(of_foo, &method("run", "(I)V", 9)).unwrap();
    map.assign(of_foo, &method("run", "(I)V", 255)).unwrap();
    assert_eq!(new(&map), "", "back to what the file says");
}

#[test]
fn a_part_holds_the_ids_that_were_asked_for() {
    let mut out = Vec::new();
    two().write_part([2, 3, 9], &mut out);
    let part = IdMap::parse(&out).unwrap();
    assert_eq!(part.iter().map(|entry| entry.id).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(part.lookup(3).unwrap().class, b"a/Bar");
    assert_eq!(part.lookup(1), None);
}

#[test]
fn ids_are_not_given_again() {
    let mut map = IdMap::parse(b"instrument ids 1\nclass A -\n41 gone ()V 0 0 0000000000000000\n").unwrap();
    let a = map.begin_class(b"A", None).unwrap();
    assert_eq!(map.assign(a, &method("new", "()V", 0)), Ok(42));
    let full = format!("{HEADER}class A -\n{MAX_ID} last ()V 0 0 0000000000000000\n");
    let mut map = IdMap::parse(full.as_bytes()).unwrap();
    let a = map.begin_class(b"A", None).unwrap();
    assert!(map.assign(a, &method("more", "()V", 0)).is_err());
    assert_eq!(map.assign(a, &method("last", "()V", 0)), Ok(MAX_ID));
}

#[test]
fn a_file_torn_anywhere_reads_up_to_its_last_whole_line() {
    for cut in 0..=TWO.len() {
        let map = IdMap::parse(&TWO.as_bytes()[..cut]).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        let whole = TWO[..cut].rfind('\n').map_or(0, |end| end + 1);
        assert_eq!((map.valid_len(), map.torn_len()), (whole, cut - whole));
        let methods =
            TWO[..whole].lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
        assert_eq!(map.len(), methods);
        let mut repaired = map;
        let of_foo = class(&mut repaired, "a/Foo");
        repaired.assign(of_foo, &method("run", "(I)V", 255)).unwrap();
        let text = format!("{}{}", &TWO[..whole], new(&repaired));
        assert_eq!(all(&IdMap::parse(text.as_bytes()).unwrap()), all(&repaired), "cut at {cut}");
    }
}

#[test]
fn every_other_fault_names_its_line() {
    for (text, line, part) in [
        ("PK\x03\x04", 1, "not an id map"),
        ("hello\n", 1, "not an id map"),
        ("\n", 1, "not an id map"),
        ("instrument ids 2\n", 1, "version 2"),
        ("instrument ids 1\r\n", 1, "not an id map"),
        ("instrument ids 1\n\n", 2, "neither"),
        ("instrument ids 1\nclass A\n", 2, "neither"),
        ("instrument ids 1\nclass A - -\n", 2, "neither"),
        ("instrument ids 1\nclass  A -\n", 2, "neither"),
        ("instrument ids 1\nclass A\\q -\n", 2, "class name: unknown escape"),
        ("instrument ids 1\nclass A -\r\n", 2, "source file"),
        ("instrument ids 1\n1 a ()V 0 0 0000000000000000\n", 2, "before the first class"),
        ("instrument ids 1\nclass A -\n0 a ()V 0 0 0000000000000000\n", 3, "id: not within"),
        ("instrument ids 1\nclass A -\n4294967296 a ()V 0 0 0000000000000000\n", 3, "id: not a decimal"),
        ("instrument ids 1\nclass A -\n1 a ()V -1 0 0000000000000000\n", 3, "line: "),
        ("instrument ids 1\nclass A -\n1 a ()V 0 x 0000000000000000\n", 3, "flags: "),
        ("instrument ids 1\nclass A -\n1 a ()V 0 0 0\n", 3, "fingerprint: "),
        ("instrument ids 1\nclass A -\n1 a ()V 0 0 0000000000000000 1\n", 3, "neither"),
        (
            "instrument ids 1\nclass A -\n1 a ()V 0 0 0000000000000000\n1 b ()V 0 0 0000000000000000\n",
            4,
            "id 1 already belongs",
        ),
        (
            "instrument ids 1\nclass A -\n1 a ()V 0 0 0000000000000000\n2 a ()V 0 0 0000000000000000\n",
            4,
            "already has id 1, not 2",
        ),
        (
            "instrument ids 1\nclass A -\n5 a ()V 0 0 0000000000000000\n3 b ()V 0 0 0000000000000000\n",
            4,
            "new id 3 after id 5",
        ),
    ] {
        let error = IdMap::parse(text.as_bytes()).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    let taken =
        IdMap::parse(format!("{TWO}class B -\n2 x ()V 0 0 0000000000000000\n").as_bytes()).unwrap_err();
    assert_eq!(taken.kind, IdMapErrorKind::IdTaken { id: 2 });
}

#[test]
fn large_classes_are_searched_as_well_as_small_ones() {
    let mut map = IdMap::new();
    let (large, small) = (class(&mut map, "Large"), class(&mut map, "Small"));
    for round in 0..2 {
        for n in 0..1000u32 {
            let name = format!("m{n}");
            assert_eq!(map.assign(large, &method(&name, "()V", round)), Ok(n + n.min(20) + 1), "{name}");
            if n < 20 {
                assert_eq!(map.assign(small, &method(&name, "()V", round)), Ok(2 * n + 2), "{name}");
            }
        }
    }
    let read = IdMap::parse(all(&map).as_bytes()).unwrap();
    assert_eq!(read.find(b"Large", b"m999", b"()V"), Some(1020));
    assert_eq!(read.find(b"Small", b"m19", b"()V"), Some(40));
    assert_eq!(read.find(b"Small", b"m999", b"()V"), None);
    assert_eq!(read.find(b"Large", b"m999", b"()I"), None);
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12),
        "[ab]{1,2}".prop_map(String::into_bytes),
        Just(b"-".to_vec())
    ]
}

proptest! {
    /// Any names, in two runs over one file: the second sees the first's ids, and the file says what the map says.
    #[test]
    fn any_names_survive_two_runs(
        runs in proptest::collection::vec(
            proptest::collection::vec((bytes(), proptest::option::of(bytes()), bytes(), bytes(), any::<u32>(), any::<u64>()), 0..40), 2)
    ) {
        let mut file = Vec::new();
        let mut known = std::collections::HashMap::new();
        for run in &runs {
            let mut map = IdMap::parse(&file).unwrap();
            for (class, source, name, descriptor, line, fingerprint) in run {
                let ids = map.begin_class(class, source.as_deref()).unwrap();
                let info = MethodInfo { name, descriptor, line: *line, flags: line / 3, fingerprint: *fingerprint };
                let id = map.assign(ids, &info).unwrap();
                prop_assert_eq!(*known.entry((class, name, descriptor, info.is_library_call())).or_insert(id), id);
                prop_assert_eq!(map.lookup(id).unwrap().method, info);
                prop_assert_eq!(map.lookup(id).unwrap().source, source.as_deref());
            }
            prop_assert_eq!(map.len(), known.len());
            map.write_new(&mut file);
            let read = IdMap::parse(&file).unwrap();
            prop_assert_eq!(all(&read), all(&map));
            prop_assert!(read.iter().eq(map.iter()));
        }
    }

    #[test]
    fn damaged_maps_never_panic(at in 0..TWO.len(), byte in any::<u8>(), length in 0..6usize) {
        let mut text = TWO.as_bytes().to_vec();
        let end = (at + length).min(text.len());
        text.splice(at..end, [byte]);
        if let Ok(map) = IdMap::parse(&text) {
            prop_assert_eq!(all(&IdMap::parse(all(&map).as_bytes()).unwrap()), all(&map));
        }
    }
}

/// `cargo test --release -p instrument-names --test id_map -- --ignored --nocapture`
#[test]
#[ignore = "a measurement; run it in release"]
fn speed() {
    let names: Vec<String> = (0..2000).map(|i| format!("getSomethingQuiteLong{i}")).collect();
    let descriptors: Vec<String> =
        (0..50).map(|i| format!("(Lcom/acme/types/Type{i};I)Ljava/util/List;")).collect();
    let classes: Vec<String> =
        (0..22_000).map(|i| format!("org/acme/compiler/backend/part{}/Class{i}", i % 300)).collect();
    let mut best = [f64::MAX; 5];
    for _ in 0..15 {
        let mut timer = Instant::now();
        let mut lap = |slot: &mut f64| {
            *slot = slot.min(timer.elapsed().as_secs_f64() * 1e3);
            timer = Instant::now();
        };
        let mut map = IdMap::new();
        let mut count = 0usize;
        for (index, class) in classes.iter().enumerate() {
            let ids = map.begin_class(class.as_bytes(), Some(b"Class.java")).unwrap();
            for m in 0..7 + usize::from(index % 8 < 6) {
                let name = &names[(index * 7 + m) % names.len()];
                map.assign(ids, &method(name, &descriptors[m], count as u64 * 0x9e37_79b9)).unwrap();
                count += 1;
            }
        }
        lap(&mut best[0]);
        let mut text = Vec::new();
        map.write_all(&mut text);
        lap(&mut best[1]);
        let read = IdMap::parse(&text).unwrap();
        lap(&mut best[2]);
        assert_eq!(read.len(), count);
        let packed = instrument_names::id_map::gz::compress(&text);
        lap(&mut best[3]);
        assert_eq!(instrument_names::id_map::gz::decompress(&packed, usize::MAX).unwrap(), text);
        lap(&mut best[4]);
        if best[0] == f64::MAX {
            println!("{} {}", text.len(), packed.len());
        }
        assert!(count > 165_000);
    }
    println!(
        "assign {:.1} ms, write {:.1} ms, parse {:.1} ms, gzip {:.1} ms, gunzip {:.1} ms",
        best[0], best[1], best[2], best[3], best[4]
    );
}
