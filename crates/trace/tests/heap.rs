//! The reader over collections, contexts and biographies, whole, cut and damaged.

use std::fs;
use std::path::Path;

use instrument_testing::{Life, Writer};
use instrument_trace::{Collection, Holder, HolderPath, Object, Profile, SearchEnd, TreeConsumer};

const CONTEXTS: [(u32, Option<u32>); 5] = [(0, Some(7)), (1, Some(8)), (1, None), (3, Some(9)), (0, Some(0))];

fn life(number: u64) -> Life {
    Life {
        class: 1 + number as u32 % 2,
        thread: 1,
        context: number as u32 % 6,
        bytes: 8 * number,
        born: number as u32 / 100,
        gone: (!number.is_multiple_of(3)).then_some(number as u32 / 100 + number as u32 % 3),
        clock: 2000 + number,
    }
}

/// 20,000 objects, more than are read at once, in two regions; one of them was not finished.
fn file() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.property("record", "tree").class_names(&[(1, "java.lang.Object"), (2, "[I")]);
    writer.collections(1, &[(1500, 1600), (2500, 2700)]);
    let mut lives = (1..=20_000).map(life).collect::<Vec<_>>();
    lives[499].class = 0;
    writer.objects(1, &lives[..15_000]);
    writer.contexts(1, &CONTEXTS[..3]);
    writer.contexts(4, &CONTEXTS[3..]);
    writer.collections(3, &[(3500, 0)]);
    writer.objects(15_001, &lives[15_000..]);
    writer.finish()
}

fn objects(profile: &Profile, data: &[u8]) -> Vec<Object> {
    let mut objects = Vec::new();
    profile.for_each_object(&data.to_vec(), |object| objects.push(*object)).unwrap();
    objects
}

fn expected(number: u64) -> Object {
    let Life { class, thread, context, bytes, born, gone, clock } = life(number);
    Object { copy: 1, number, class, thread, context, bytes, born, gone, clock }
}

#[test]
fn the_heap_is_read() {
    let data = file();
    let profile = Profile::parse(&data).unwrap();
    assert_eq!((&profile.damage[..], profile.skipped.len()), (&[][..], 0));
    let collection = |number, start, end| Collection { copy: 1, number, start, end };
    let collections = [collection(1, 1500, 1600), collection(2, 2500, 2700), collection(3, 3500, 0)];
    assert_eq!(profile.collections, collections);
    assert_eq!(profile.collections_of(1), collections);
    assert_eq!(profile.collections_of(2), []);
    let finished = (1..=20_000).filter(|&number| number != 500).map(expected).collect::<Vec<_>>();
    assert!(objects(&profile, &data) == finished);
}

#[test]
fn chains_begin_in_the_thread() {
    use TreeConsumer::{Deeper, Method};
    let profile = Profile::parse(&file()).unwrap();
    let contexts = &profile.copies[&1].contexts;
    assert_eq!((contexts.len(), contexts.is_empty()), (5, false));
    let chain = |number| contexts.chain(number).collect::<Vec<_>>();
    assert_eq!(chain(4), [Method(9), Deeper, Method(7)]);
    assert_eq!(chain(5), [Method(0)]);
    assert_eq!((chain(0), chain(6)), (vec![], vec![]));
    assert!(contexts.iter().map(|(number, context)| (number, context.caller)).eq([
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 3),
        (5, 0)
    ]));
}

#[test]
fn what_an_object_outlived_is_what_ended_while_it_was_there() {
    let outlived = |born, gone| Object { born, gone, ..expected(1) }.outlived();
    assert_eq!(outlived(3, None), None);
    assert_eq!(outlived(3, Some(4)), Some(0));
    assert_eq!(outlived(3, Some(9)), Some(5));
    // Found while the collection that removed it had not ended, or written by nobody.
    assert_eq!((outlived(3, Some(3)), outlived(3, Some(0))), (Some(0), Some(0)));
}

/// Whatever is left of a file, what is read from it is what the whole has.
#[test]
fn cut_anywhere() {
    let data = file();
    let whole = Profile::parse(&data).unwrap();
    let used = data.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let mut seen = 0;
    // Near the ends of regions every byte, in the long lists of objects now and then one.
    let near =
        |at: &usize| at.is_multiple_of(997) || data[at & !63..].starts_with(&[0; 64]) || *at > used - 300;
    for length in (4096..used + 64).filter(near).chain(4096..6500) {
        let cut = &data[..length];
        let profile = Profile::parse(cut).unwrap();
        assert!(length < 4096 + 64 || !profile.damage.is_empty(), "cut at {length} unnoticed");
        assert!(whole.collections.starts_with(&profile.collections), "cut at {length}");
        if let Some(copy) = profile.copies.get(&1) {
            let contexts = copy.contexts.iter().map(|(_, context)| *context).collect::<Vec<_>>();
            assert!(
                contexts.iter().eq(whole.copies[&1].contexts.iter().take(contexts.len()).map(|(_, c)| c))
            );
            seen += contexts.len();
        }
        let mut number = 0;
        let check = |object: &Object| {
            assert!(object.number > number && *object == expected(object.number), "cut at {length}");
            number = object.number;
            seen += 1;
        };
        profile.for_each_object(&cut.to_vec(), check).unwrap();
    }
    assert!(seen > 1_000_000, "the cuts never left anything: {seen}");
}

#[test]
fn wrong_numbers_are_damage_and_ask_for_no_memory() {
    let mut writer = Writer::new();
    writer.contexts(1, &[(0, Some(1)), (7, Some(2))]);
    writer.contexts(1 << 60, &[(0, Some(3))]);
    writer.contexts(0, &[(0, Some(3))]);
    writer.contexts(u64::MAX, &[(0, Some(3))]);
    writer.collections(1 << 32, &[(1, 2)]);
    writer.collections(0, &[(1, 2)]);
    writer.objects(u64::MAX, &[Life { class: 1, ..Life::default() }; 3]);
    let data = writer.finish();
    let profile = Profile::parse(&data).unwrap();
    let structures = profile.damage.iter().map(|damage| damage.structure).collect::<Vec<_>>();
    assert_eq!(structures, ["context", "context", "context", "context", "collection", "collection"]);
    let contexts = &profile.copies[&1].contexts;
    assert_eq!((contexts.len(), contexts.get(2).map(|context| context.caller)), (2, Some(0)));
    assert_eq!(profile.collections, []);
    assert!(objects(&profile, &data).iter().all(|object| object.number == u64::MAX));
}

#[test]
fn a_hole_in_the_contexts_is_unknown() {
    let mut writer = Writer::new();
    writer.contexts(1, &[(0, Some(1))]);
    writer.contexts(4, &[(3, Some(3)), (1, Some(4))]);
    let profile = Profile::parse(&writer.finish()).unwrap();
    let contexts = &profile.copies[&1].contexts;
    assert_eq!(contexts.get(2).and_then(|context| context.consumer()), None);
    assert_eq!(contexts.chain(4).collect::<Vec<_>>(), [TreeConsumer::Method(3)]);
    assert_eq!(contexts.chain(5).collect::<Vec<_>>(), [TreeConsumer::Method(4), TreeConsumer::Method(1)]);
}

/// A small file, for the fuzzing of the reader; `BLESS=1` writes it anew.
#[test]
fn the_pinned_file_is_up_to_date() {
    let mut writer = Writer::new();
    writer.property("record", "tree").class_names(&[(1, "java.lang.Object"), (2, "[I")]);
    writer.collections(1, &[(1500, 1600), (2500, 2700), (3500, 0)]);
    writer.contexts(1, &CONTEXTS).objects(1, &(1..=20).map(life).collect::<Vec<_>>());
    let data = writer.finish();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/v1-heap.iprof");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &data).unwrap();
    }
    assert!(fs::read(&path).unwrap() == data, "v1-heap.iprof is not what the writer writes");
}

/// A search that was cut short, with an entry of each kind.
#[test]
fn holders_are_read_and_damage_is_named() {
    let word = |value: u32| value.to_le_bytes();
    let mut data = [word(1), word(5000), word(7), word(1)].concat();
    let path = "static a.B.c\nd.E.f[]";
    for (objects, flags, text) in [(30, 0, path), (5, 2, ""), (65, 1, "")] {
        data.extend([2, 4, 100, objects, flags, text.len() as u32].map(word).concat());
        data.extend(text.as_bytes());
        data.resize(data.len().next_multiple_of(8), 0);
    }
    let parse = |data: &[u8]| {
        let mut writer = Writer::new();
        writer.holders(data);
        Profile::parse(&writer.finish()).unwrap()
    };
    let profile = parse(&data);
    assert_eq!((&profile.damage[..], profile.skipped.len()), (&[][..], 0));
    let [search] = &profile.holder_searches[..] else { panic!("{:?}", profile.holder_searches) };
    assert_eq!((search.end, search.objects, search.ns), (SearchEnd::Time, 5000, 7 + (1 << 32)));
    let holder = |objects, path| Holder { class: 2, context: 4, sampled: 100, objects, path };
    let steps = path.split('\n').map(str::to_owned).collect();
    let expected =
        [holder(30, HolderPath::Steps(steps)), holder(5, HolderPath::Others), holder(65, HolderPath::NotMet)];
    assert_eq!(search.holders, expected);
    // Cut within the last entry, and within the head.
    for length in [data.len() - 4, data.len() - 20, 15, 0] {
        let profile = parse(&data[..length]);
        assert_eq!((profile.damage.len(), profile.holder_searches.len()), (1, 0), "{length}");
    }
    let mut wild = data;
    wild[16 + 20..16 + 24].copy_from_slice(&word(u32::MAX));
    assert_eq!(parse(&wild).damage.len(), 1);
}
