//! Leak suspects: what is one, and what is not.

use instrument_analysis::heap::leaks::{Found, Held, HeldBy};
use instrument_testing::Life;

use crate::common::leaking;

/// What the objects of a class do: (made after so many collections, found gone after so many), how many.
type Lives = Vec<(u32, Option<u32>, u32)>;

/// Looks for leaks among classes 1, 2, .. of a program with so many collections; objects have 16 bytes.
fn found(collections: u32, classes: &[Lives]) -> Found {
    found_with(collections, classes, None)
}

/// With a search for holders that ended so; of class 1 it looked for 9 objects, of which 5 are held in one way and 4 were not met.
fn found_with(collections: u32, classes: &[Lives], search: Option<u32>) -> Found {
    let mut writer = leaking::collected(collections);
    let mut lives = Vec::new();
    for (class, all) in (1..).zip(classes) {
        for &(born, gone, times) in all {
            let life = Life { class, context: 1, bytes: 16, born, gone, ..Life::default() };
            lives.extend((0..times).map(|_| life));
        }
    }
    writer.objects(1, &lives);
    if let Some(end) = search {
        let path = b"static a.B.c\0\0\0\0";
        let words = [end, 2_000_000, 0, 0, 1, 1, 9, 5, 0, 12, 1, 1, 9, 4, 1, 0].map(u32::to_le_bytes);
        writer.holders(&[words[..10].concat(), path.to_vec(), words[10..].concat()].concat());
    }
    leaking::found(writer, &|_, _| true)
}

fn suspects(collections: u32, classes: &[Lives]) -> Vec<String> {
    found(collections, classes).suspects.into_iter().map(|suspect| suspect.class).collect()
}

/// Objects of ever the same age: each epoch makes so many, and they are found gone so many collections later.
fn churn(collections: u32, each: u32, age: u32) -> Lives {
    let gone = |born| Some(born + age).filter(|&gone| gone <= collections);
    (0..=collections).map(|born| (born, gone(born), each)).collect()
}

#[test]
fn what_grows_and_stays_is_a_suspect() {
    for collections in [8, 9, 16, 40, 200, 5000] {
        let leak: Lives = (0..=collections).map(|born| (born, None, 3)).collect();
        assert_eq!(suspects(collections, &[leak]), ["1"], "{collections} collections");
    }
}

#[test]
fn the_figures_of_a_suspect_are_those_of_its_objects() {
    // Each epoch makes 10 objects; 4 of them stay, 6 go with the next collection.
    let leak: Lives = (0..40).flat_map(|born| [(born, None, 4), (born, Some(born + 1), 6)]).collect();
    let found = found(40, &[leak, churn(40, 50, 2)]);
    let [suspect] = &found.suspects[..] else { panic!("{found:?}") };
    assert_eq!((suspect.class.as_str(), suspect.context.as_slice()), ("1", &["m5".to_owned()][..]));
    assert_eq!((suspect.before, suspect.after), ((80, 1280), (160, 2560)));
    assert_eq!((suspect.made, suspect.kept, suspect.growth()), (200, 80, 1280));
    assert_eq!((suspect.collections, suspect.windows, suspect.grew, suspect.ns), (20, 8, 8, 20_000_000));
    assert_eq!(
        suspect.why(),
        "80 objects became 160 in the last 20 collections (+1.250 KiB, 62.50 KiB/s), more in 8 of 8 windows, fewer in none; \
         40 % of the 200 made since are still there"
    );
}

#[test]
fn a_cache_that_is_full_is_none() {
    for full in [1, 10, 20, 25, 30, 35, 37] {
        let cache: Lives = (0..=40).map(|born| (born, None, if born < full { 100 } else { 0 })).collect();
        assert_eq!(suspects(40, &[cache]), [""; 0], "full after {full} of 40 collections");
    }
    // One that replaces its objects from then on.
    let lru: Lives = (0..=40).map(|born| (born, Some(born + 12).filter(|&gone| gone <= 40), 100)).collect();
    assert_eq!(suspects(40, &[lru]), [""; 0]);
}

#[test]
fn steady_churn_is_none_whatever_the_age() {
    for age in [1, 2, 3, 5, 8, 13] {
        assert_eq!(suspects(60, &[churn(60, 1000, age)]), [""; 0], "age {age}");
    }
    // Numbers that vary from one collection to the next.
    let mut seed = 7u64;
    let mut random = move |below: u32| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as u32 % below
    };
    let classes: Vec<Lives> = (0..300)
        .map(|_| {
            let lives = (0..=40u32).map(|born| {
                let gone = born + 1 + random(6);
                (born, Some(gone).filter(|&gone| gone <= 40), random(20))
            });
            lives.collect()
        })
        .collect();
    assert_eq!(suspects(40, &classes), [""; 0]);
    // Old objects that only every tenth collection looks at.
    let tenth = |born: u32| Some((born / 10 + 1) * 10).filter(|&gone| gone <= 60);
    let sawtooth: Lives = (0..=60).map(|born| (born, tenth(born), 50)).collect();
    assert_eq!(suspects(60, &[sawtooth]), [""; 0]);
}

#[test]
fn a_burst_is_none() {
    for at in [3, 21, 30, 39] {
        assert_eq!(suspects(40, &[vec![(at, None, 100_000)]]), [""; 0], "kept since {at}");
        assert_eq!(suspects(40, &[vec![(at, Some(at + 1), 100_000)]]), [""; 0], "gone after {at}");
    }
}

#[test]
fn a_queue_that_grows_and_moves_on_is_none() {
    // Objects live for 2 collections, and there are more of them all the time.
    let queue: Lives =
        (0..=40).map(|born| (born, Some(born + 2).filter(|&gone| gone <= 40), 10 + born)).collect();
    assert_eq!(suspects(40, &[queue]), [""; 0]);
}

#[test]
fn suspects_are_ranked_and_trifles_left_out() {
    let leak = |each: u32| -> Lives { (0..40).map(|born| (born, None, each)).collect() };
    assert_eq!(suspects(40, &[leak(2), leak(700), leak(30)]), ["2", "3", "1"]);
    // One object for each collection beside a megabyte that stays.
    assert_eq!(suspects(40, &[leak(1), vec![(0, None, 70_000)]]), [""; 0]);
}

#[test]
fn what_limits_the_answer_is_said() {
    let few = found(7, &[(0..7).map(|born| (born, None, 3)).collect()]);
    assert_eq!(few.suspects, []);
    assert!(few.is_undetermined() && few.remarks.is_empty(), "{few:?}");
    assert!(
        few.undetermined[0].starts_with("the program had 7 garbage collections, and at least 8"),
        "{few:?}"
    );
    let none = found(8, &[churn(8, 10, 1)]);
    assert!(none.suspects.is_empty() && !none.is_undetermined(), "{none:?}");
    let leak: Lives = (0..40).map(|born| (born, None, 3)).collect();
    // Nothing old was found gone: it may be garbage.
    let young = found(40, &[leak.clone(), churn(40, 3, 1)]);
    assert_eq!((young.suspects.len(), young.remarks.len()), (1, 2));
    assert!(
        young.remarks[0].starts_with("nothing that had outlived more than 0 collections"),
        "{:?}",
        young.remarks
    );
    let old = found(40, &[leak, vec![(0, Some(30), 1)]]);
    assert_eq!((old.suspects.len(), old.remarks.len()), (1, 1), "{:?}", old.remarks);
    assert!(old.remarks[0].starts_with("who holds the suspects is not in the profile"), "{:?}", old.remarks);
}

#[test]
fn suspects_come_with_what_holds_them() {
    let leak: Lives = (0..40).map(|born| (born, None, 3)).collect();
    let classes = [leak.clone(), leak, vec![(0, Some(30), 1)]];
    for (end, unmet, remark) in [
        (0, HeldBy::Nothing, None),
        (1, HeldBy::Unknown, Some("ended after 2000000 objects; --heap-holders SECONDS")),
        (2, HeldBy::Unknown, Some("ended after 2000000 objects, as many as it may")),
    ] {
        let found = found_with(40, &classes, Some(end));
        let [first, second] = &found.suspects[..] else { panic!("{found:?}") };
        let held = |by, objects| Held { by, objects, sampled: 9 };
        let path = HeldBy::Path(vec!["static a.B.c".to_owned()]);
        assert_eq!((&first.class[..], &first.holders[..]), ("1", &[held(path, 5), held(unmet, 4)][..]));
        assert_eq!(second.holders, []);
        let remarks = found.remarks.join("\n");
        assert!(remark.map_or(remarks.is_empty(), |remark| remarks.contains(remark)), "{remarks}");
    }
}
