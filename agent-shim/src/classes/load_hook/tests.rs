use super::*;

fn hook(options: &str) -> LoadHook {
    LoadHook::new(Options::parse(options).unwrap(), None).unwrap()
}

fn golden() -> Vec<(String, Vec<u8>)> {
    let mut classes = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "class") {
                classes.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    assert!(classes.len() > 100);
    classes
}

/// HotSpot lets native code have 80 KiB when Java code has used up its stack, and needs a part of them itself.
#[test]
fn little_stack_is_enough() {
    let classes = golden();
    let run = move || {
        let hook = hook("transform=method-events:allocation");
        let rewrite = |(name, class): &(String, Vec<u8>)| {
            hook.rewrite(Origin::Program, name.as_bytes(), class, Reach::Direct, false, |news| {
                assert!(news.map.is_none_or(|map| !map.is_empty()))
            })
            .is_some()
        };
        classes.iter().filter(|class| rewrite(class)).count()
    };
    let thread = std::thread::Builder::new().stack_size(40 << 10).spawn(run).unwrap();
    assert!(thread.join().unwrap() > 100);
}

#[test]
fn the_rules_come_before_the_filter() {
    let hook = hook("include=java.util.**:com.acme.**");
    for (origin, class, wanted) in [
        (Origin::Program, "com/acme/Foo", true),
        // Not for the rules to say.
        (Origin::Program, "org/Other", true),
        (Origin::Program, "com/acme/$Proxy1", false),
        (Origin::Jdk, "java/util/HashMap", true),
        (Origin::Jdk, "java/util/Objects", false),
        (Origin::Jdk, "javax/print/Doc", false),
    ] {
        assert_eq!(hook.may_want(origin, class.as_bytes()), wanted, "{class}");
    }
}

#[test]
fn a_pattern_that_a_class_of_the_jdk_fits_is_not_unmatched() {
    let hook = hook("include=java.util.**:**Foo:com.acme.**,exclude=**Inflater:**#never");
    let unmatched = |hook: &LoadHook| {
        let patterns = hook.unmatched();
        patterns.iter().map(|(option, pattern)| format!("{option} {pattern}")).collect::<Vec<_>>().join(", ")
    };
    let nothing =
        "include java.util.**, include **Foo, include com.acme.**, exclude **Inflater, exclude **#never";
    assert_eq!(unmatched(&hook), nothing);
    for class in ["java/util/HashMap", "java/util/zip/Inflater"] {
        hook.may_want(Origin::Jdk, class.as_bytes());
    }
    assert_eq!(unmatched(&hook), "include **Foo, include com.acme.**, exclude **#never");
}

#[test]
fn classes_of_remote_calls_are_rewritten_whatever_the_filters_say() {
    let class = b"sun/rmi/transport/Transport";
    for (options, wanted, alone) in [
        ("transform=method-events:rmi", true, true),
        ("transform=rmi,include=com.acme.**", true, true),
        ("transform=rmi,include=sun.rmi.**", true, false),
        ("transform=rmi,include=sun.rmi.**#run", true, true),
        ("transform=method-events", false, false),
    ] {
        let hook = hook(options);
        assert_eq!(hook.may_want(Origin::Jdk, class), wanted, "{options}");
        assert_eq!(hook.is_rmi_only(Origin::Jdk, class), alone, "{options}");
        assert!(!hook.is_rmi_only(Origin::Jdk, b"sun/rmi/transport/GC"), "{options}");
        assert!(!hook.is_rmi_only(Origin::Program, class), "{options}");
    }
}

#[test]
fn a_class_of_remote_calls_that_is_not_as_expected_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report");
    let hook = hook(&format!("transform=rmi,report={}", report.display()));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/rmi-internals");
    for (name, expected) in [("ConnectionInputStream", true), ("ConnectionOutputStream", false)] {
        let name = format!("sun/rmi/transport/{name}");
        let class = fs::read(golden.join(format!("{name}.class"))).unwrap();
        let rewritten =
            hook.rewrite(Origin::Jdk, name.as_bytes(), &class, Reach::Direct, true, |_| panic!("no ids"));
        assert_eq!(rewritten.is_some(), expected, "{name}");
    }
    assert!(hook.rmi_differs.load(Relaxed));
    let report = fs::read_to_string(report).unwrap();
    assert!(report.contains("ConnectionOutputStream") && report.contains("unknown-internals"), "{report}");
}

#[test]
fn a_name_does_not_lead_out_of_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    for name in ["../x", "a/../../x", "/x", "a//x", ".x"] {
        dump(&inside, name.as_bytes(), b"x").unwrap();
    }
    assert!(!inside.exists());
    dump(&inside, b"a/B", b"x").unwrap();
    assert_eq!(fs::read(inside.join("a/B.class")).unwrap(), b"x");
}

/// What the recorder is told of a class with this filter, and what requests for more durations find before it is told.
#[test]
fn durations_are_asked_for_of_each_method_once() {
    let (name, class) = golden().swap_remove(0);
    let own = name_of(&class).unwrap().to_vec();
    let class_name = String::from_utf8(own.clone()).unwrap().replace('/', ".");
    let hook = hook("transform=method-events");
    let ask = |threshold: &str| {
        let of = instrument_control::latency::Kept::list(&format!("{class_name}#*{threshold}")).unwrap();
        hook.keep_durations(of)
    };
    assert_eq!(ask(":5ns").fitting, 0, "{name}: no class is there");
    let mut told = Vec::new();
    hook.rewrite(Origin::Program, &own, &class, Reach::Direct, false, |news| {
        // It has its number and no new bytes yet.
        let late = ask("");
        assert_eq!((late.fitting, late.other_threshold), (news.kept.len() as u64, late.fitting));
        assert!(late.methods.is_empty(), "the class tells of these itself");
        told = news.kept;
    });
    assert!(!told.is_empty() && told.iter().all(|(_, threshold)| *threshold == 5), "{told:?}");
    assert_eq!(ask(":5ns").other_threshold, 0);
    // Those that are excluded are none that fit.
    let all = instrument_names::pattern::Pattern::new(&format!("{class_name}#*")).unwrap();
    assert_eq!(hook.change(true, vec![all]).unwrap().ids.len(), told.len());
    assert_eq!(ask(":5ns").fitting, 0);
}
