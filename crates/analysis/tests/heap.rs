//! The figures of the heap: biographies added up, tables by class, site and context, and what is said of their coverage.

use instrument_analysis::heap::Process;
use instrument_analysis::heap::coverage::{Coverage, of_all, share};
use instrument_analysis::heap::leaks::{Suspect, find};
use instrument_analysis::heap::object_lifetimes::{Epoch, Figures, Key, ObjectLifetimes};
use instrument_analysis::heap::table::{By, Filter, Table, table};
use instrument_testing::{Life, Script, Writer};
use instrument_trace::{Allocation, Profile};

/// Looks at a profile with its biographies; methods are m1, m2, .., classes as the profile has them.
fn with<R>(data: &[u8], ask: impl FnOnce(&Process<'_>) -> R) -> R {
    let profile = Profile::parse(data).unwrap();
    assert_eq!(profile.damage, []);
    let biographies = ObjectLifetimes::read(&profile, &data).unwrap();
    let classes = |copy: u32, number: u32| profile.copies[&copy].class_names[&number].clone();
    let process = Process {
        profile: &profile,
        biographies: biographies.as_ref(),
        methods: &|_, id| format!("m{id}"),
        classes: &classes,
        threads: &|_, ordinal| ordinal != 3,
    };
    ask(&process)
}

/// Four collections, which end at 110, 210, 310 and 410, and objects of class 1 by thread 1 unless said otherwise.
fn lives() -> Vec<u8> {
    let life = Life { class: 1, thread: 1, context: 1, bytes: 16, clock: 50, ..Life::default() };
    let mut writer = Writer::new();
    writer.class_names(&[(1, "p.A"), (2, "[I")]).property("record", "tree");
    for name in ["one", "two", "three"] {
        writer.tree(name, &Script::new(1000));
    }
    writer.collections(1, &[(100, 110), (200, 210), (300, 310), (400, 410)]);
    writer.contexts(1, &[(0, Some(5)), (1, Some(6)), (2, None)]);
    writer.objects(
        1,
        &[
            // Gone after the first collection, after three, and one of which the clock is not known.
            Life { gone: Some(1), ..life },
            Life { gone: Some(3), bytes: 24, ..life },
            Life { gone: Some(1), clock: 0, ..life },
            // Live: old, made in the later half, and made after the last collection.
            life,
            Life { born: 2, bytes: 32, ..life },
            Life { born: 3, bytes: 40, ..life },
            Life { born: 4, bytes: 48, ..life },
            // Of another class and context, by a thread that is not in the profile.
            Life { class: 2, context: 2, thread: 9, bytes: 400, ..life },
            // By one that does not count.
            Life { thread: 3, bytes: 8000, ..life },
            // Of collections that there are not: made after the ninth, gone after the ninth, gone before it was made.
            Life { class: 2, context: 3, thread: 2, born: 9, gone: Some(9), bytes: 8, ..life },
            Life { class: 2, context: 3, thread: 2, born: 0, gone: Some(9), bytes: 8, ..life },
            Life { class: 2, context: 3, thread: 2, born: 3, gone: Some(2), bytes: 8, ..life },
        ],
    );
    writer.finish()
}

#[test]
fn biographies_are_added_up_by_thread_context_and_class() {
    let data = lives();
    let profile = Profile::parse(&data).unwrap();
    let all = ObjectLifetimes::read(&profile, &data).unwrap().expect("there are some");
    let key = |thread, context, class| Key { copy: 1, thread, context, class };
    let keys: Vec<Key> = all.groups.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, [key(0, 2, 2), key(1, 1, 1), key(2, 3, 2), key(3, 1, 1)]);
    let of = |at: usize| &all.groups[at].1;
    let figures = of(1);
    assert_eq!((figures.objects, figures.bytes, figures.died()), (7, 3 * 16 + 24 + 32 + 40 + 48, 3));
    assert_eq!((figures.live, figures.live_bytes), (4, 16 + 32 + 40 + 48));
    // No collection has seen the last one.
    assert_eq!((figures.late, figures.late_bytes), (2, 72));
    assert_eq!(
        (figures.outlived.count(), figures.outlived.most(), figures.outlived.mean()),
        (3, 2, Some(2.0 / 3.0))
    );
    assert_eq!((figures.ns.count(), figures.ns.mean()), (2, Some(f64::midpoint(60.0, 260.0))));
    let mut sum = Figures::default();
    sum.merge(of(0));
    sum.merge(figures);
    assert_eq!((sum.objects, sum.bytes, sum.live, sum.live_bytes), (8, 560 + 8 + 24, 5, 536));
    assert_eq!((sum.late, sum.late_bytes, sum.outlived.count(), sum.ns.count()), (2, 72, 3, 2));
    assert_eq!((all.unseen, all.unseen_bytes, all.misdated), (1, 48, 3));
    assert_eq!(all.remarks(), ["3 objects speak of collections that the profile does not have"]);
    let epoch = |made, made_bytes, gone, gone_bytes| Epoch { made, made_bytes, gone, gone_bytes };
    let expected = [
        epoch(7, 16 + 24 + 16 + 16 + 400 + 8000 + 8, 0, 0),
        epoch(0, 0, 2, 32),
        epoch(1, 32, 1, 8),
        epoch(2, 48, 1, 24),
        epoch(2, 56, 2, 16),
    ];
    assert_eq!(all.epochs[&1], expected);
}

/// What a table has: class, methods, objects, bytes.
fn rows(table: &Table) -> Vec<(String, String, u64, u64)> {
    table.rows.iter().map(|(row, f)| (row.class.clone(), row.methods.join(" "), f.objects, f.bytes)).collect()
}

fn row(class: &str, methods: &str, objects: u64, bytes: u64) -> (String, String, u64, u64) {
    (class.to_owned(), methods.to_owned(), objects, bytes)
}

#[test]
fn tables_of_biographies_are_by_class_site_or_context() {
    with(&lives(), |process| {
        let tables = [By::Class, By::Site, By::Context]
            .map(|by| table(std::slice::from_ref(process), by, &Filter::default()));
        assert!(tables.iter().all(|table| table.is_followed && table.has_bytes && table.total.objects == 11));
        assert_eq!(rows(&tables[0]), [row("int[]", "", 4, 424), row("p.A", "", 7, 192)]);
        assert_eq!(
            rows(&tables[1]),
            [row("int[]", "m6", 1, 400), row("p.A", "m5", 7, 192), row("int[]", "(deeper)", 3, 24)]
        );
        assert_eq!(rows(&tables[2])[0], row("int[]", "m6 m5", 1, 400));
        assert_eq!(rows(&tables[2])[2], row("int[]", "(deeper) m6 m5", 3, 24));
        let m5 = |name: &str| name == "m5";
        let arrays = |name: &str| name == "int[]";
        let filtered =
            |by, class, method| rows(&table(std::slice::from_ref(process), by, &Filter { class, method }));
        assert_eq!(filtered(By::Class, None, Some(&m5)), [row("p.A", "", 7, 192)]);
        assert_eq!(filtered(By::Context, Some(&arrays), Some(&m5)).len(), 2);
        let is_all = |class, method| Filter { class, method }.is_all();
        assert_eq!(
            [is_all(None, None), is_all(Some(&arrays), None), is_all(None, Some(&m5))],
            [true, false, false]
        );
        assert_eq!(
            filtered(By::Site, Some(&arrays), None),
            [row("int[]", "m6", 1, 400), row("int[]", "(deeper)", 3, 24)]
        );
    });
}

#[test]
fn tables_of_counts_have_bytes_where_there_is_a_tree() {
    let script = Script::new(1000).enter(1).make(1, 24).call(2, |s| s.make(2, 400).make(2, 40)).exit(1);
    let mut writer = Writer::new();
    writer.class_names(&[(1, "p.A"), (2, "[I")]);
    writer.tree("one", &script);
    writer.tree("two", &script);
    writer.tree("three", &script);
    with(&writer.finish(), |process| {
        let of = |by| table(std::slice::from_ref(process), by, &Filter::default());
        assert_eq!(rows(&of(By::Class)), [row("int[]", "", 4, 880), row("p.A", "", 2, 48)]);
        assert_eq!(rows(&of(By::Context)), [row("int[]", "m2 m1", 4, 880), row("p.A", "m1", 2, 48)]);
        assert!(!of(By::Class).is_followed && of(By::Class).has_bytes);
        // Those of both processes.
        let other = Process { threads: &|_, ordinal| ordinal == 3, ..*process };
        let both = table(&[Process { ..*process }, other], By::Site, &Filter::default());
        assert_eq!(rows(&both), [row("int[]", "m2", 6, 1320), row("p.A", "m1", 3, 72)]);
        assert_eq!((both.total.objects, both.total.bytes), (9, 1392));
    });
}

fn property(writer: &mut Writer, name: &str, value: &str) {
    writer.property(name, value);
}

#[test]
fn what_is_not_seen_is_what_the_agent_wrote_or_what_rewriting_cannot_see() {
    let coverage = |properties: &[(&str, &str)], collections: bool| {
        let mut writer = Writer::new();
        properties.iter().for_each(|(name, value)| property(&mut writer, name, value));
        if collections {
            writer.collections(1, &[(100, 110)]);
        }
        let profile = Profile::parse(&writer.finish()).unwrap();
        of_all([&profile, &profile])
    };
    let said = [("heap.recorded", "these"), ("heap.not-seen", "those")];
    let written = |not_seen: &str| vec![Coverage { recorded: "these".into(), not_seen: not_seen.into() }];
    assert_eq!(coverage(&said, true), written("those"));
    let missed = [said[0], said[1], ("heap.missed", "7")];
    assert_eq!(coverage(&missed, false), written("those; 7 objects made while hardly any stack was left"));
    assert_eq!(coverage(&said[..1], true), [], "an agent that did not say");
    let without = coverage(&[], false);
    assert!(without.len() == 1 && without[0].not_seen.contains("--heap-all"), "{without:?}");
}

/// The share of the bytes that are recorded of so many, and its range.
fn share_of(allocated: &str, error: &str, more: impl Fn(&mut Writer)) -> Option<(f64, f64, f64)> {
    let mut writer = Writer::new();
    writer.class_names(&[(1, "p.A"), (2, "[I")]);
    property(&mut writer, "heap.allocated", allocated);
    property(&mut writer, "heap.allocated.error", error);
    more(&mut writer);
    with(&writer.finish(), |process| share(process).map(|s| (s.percent, s.between.0, s.between.1)))
}

#[test]
fn the_share_of_the_bytes_has_the_error_of_its_samples() {
    let tree = |writer: &mut Writer| {
        writer.tree("one", &Script::new(1000).enter(1).make(1, 400).make(2, 600));
        writer.tree("two", &Script::new(1000).enter(1).make(1, 1000));
    };
    let about = |share: Option<(f64, f64, f64)>, expected: [f64; 3]| {
        let (percent, from, to) = share.expect("a share");
        for (found, expected) in [percent, from, to].iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{share:?}");
        }
    };
    about(share_of("4000", "100", tree), [50.0, 100.0 * 2000.0 / 4196.0, 100.0 * 2000.0 / 3804.0]);
    // Not more than there is.
    about(share_of("1000", "100", tree), [100.0; 3]);
    about(share_of("2100", "100", tree), [100.0 * 2000.0 / 2100.0, 100.0 * 2000.0 / 2296.0, 100.0]);
    // 20 samples say something, 19 do not; and nothing does without an error.
    assert!(share_of("4472.2", "1000", tree).is_some());
    assert_eq!(share_of("4358.8", "1000", tree), None);
    assert_eq!(
        [share_of("4000", "0", tree), share_of("4000", "-1", tree), share_of("x", "100", tree)],
        [None; 3]
    );
    let objects = |writer: &mut Writer| {
        tree(writer);
        writer.objects(
            1,
            &[
                Life { class: 1, bytes: 800, ..Life::default() },
                Life { class: 2, bytes: 200, ..Life::default() },
            ],
        );
    };
    assert!(
        (share_of("4000", "100", objects).unwrap().0 - 25.0).abs() < 1e-9,
        "biographies are more exact than counts"
    );
}

#[test]
fn no_share_is_known_where_bytes_are_not() {
    let mut writer = Writer::new();
    property(&mut writer, "heap.allocated", "4000");
    property(&mut writer, "heap.allocated.error", "100");
    for name in ["one", "two"] {
        writer.tree(name, &Script::new(1000).enter(1).make(1, 1000));
    }
    let mut profile = Profile::parse(&writer.finish()).unwrap();
    let percent = |profile: &Profile| {
        let process = Process {
            profile,
            biographies: None,
            methods: &|_, _| String::new(),
            classes: &|_, _| String::new(),
            threads: &|_, _| true,
        };
        share(&process).map(|share| share.percent)
    };
    assert_eq!(percent(&profile), Some(50.0));
    let two = &mut profile.threads[1];
    (two.tree, two.tree_allocations, two.allocations) = (None, vec![], vec![]);
    assert_eq!(percent(&profile), Some(25.0), "one that made nothing");
    profile.threads[1].allocations = vec![Allocation { method: Some(1), class: 1, count: 1 }];
    assert_eq!(percent(&profile), None, "one whose objects were only counted");
}

/// Classes 1, 2, .. that grow by so many objects of so many bytes with each of 40 collections, in these contexts.
fn leaking(classes: &[(u32, u64, u32)]) -> Vec<Suspect> {
    let mut writer = Writer::new();
    let clocks = (1..=40u64).map(|k| (1_000_000 * k, 1_000_000 * k + 10)).collect::<Vec<_>>();
    let names: Vec<(u32, String)> =
        (1..).zip(classes).map(|(number, _)| (number, format!("p.C{number}"))).collect();
    let names: Vec<(u32, &str)> = names.iter().map(|(number, name)| (*number, name.as_str())).collect();
    // m5; m6 called by m5; m7 called by that; m8, which has nothing to do with them.
    writer
        .class_names(&names)
        .collections(1, &clocks)
        .contexts(1, &[(0, Some(5)), (1, Some(6)), (2, Some(7)), (0, Some(8))]);
    let mut lives = Vec::new();
    for (class, &(each, bytes, context)) in (1..).zip(classes) {
        let life = Life { class, context, bytes, ..Life::default() };
        lives.extend((0..40).flat_map(|born| (0..each).map(move |_| Life { born, ..life })));
    }
    writer.objects(1, &lives);
    let data = writer.finish();
    with(&data, |process| find(process, &data)).unwrap().suspects
}

#[test]
fn suspects_that_one_call_makes_are_one_leak() {
    let leaks = |classes: &[(u32, u64, u32)]| -> Vec<(usize, String)> {
        leaking(classes).into_iter().map(|suspect| (suspect.leak, suspect.class)).collect()
    };
    let is = |leak: usize, class: u32| (leak, format!("p.C{class}"));
    // An entry of a map, its key and its value, made by one call; and something else that grew by more, and less, than they together.
    assert_eq!(
        leaks(&[(3, 32, 1), (3, 16, 2), (6, 64, 3), (7, 16, 4)]),
        [is(1, 1), is(1, 2), is(1, 3), is(2, 4)]
    );
    assert_eq!(
        leaks(&[(3, 32, 1), (3, 16, 2), (6, 64, 3), (700, 16, 4)]),
        [is(1, 4), is(2, 1), is(2, 2), is(2, 3)]
    );
    // The same context, but numbers that have nothing to do with each other: 5 for each 3.
    assert_eq!(leaks(&[(3, 16, 1), (5, 16, 1)]), [is(1, 2), is(2, 1)]);
    // 64 for each one are parts of it, more are not.
    assert_eq!(leaks(&[(1, 640, 1), (64, 16, 1)]), [is(1, 2), is(1, 1)]);
    assert_eq!(leaks(&[(1, 640, 1), (66, 16, 1)]), [is(1, 2), is(2, 1)]);
    // Contexts beside each other are two leaks, however well the numbers fit.
    assert_eq!(leaks(&[(3, 32, 3), (3, 16, 4)]), [is(1, 1), is(2, 2)]);
}
