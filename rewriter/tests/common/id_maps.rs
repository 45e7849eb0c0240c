//! What fuzzing of the id map runs, and what must hold for any text.

use instrument_names::id_map::{IdMap, MethodInfo, gz};

/// Reads, writes and extends an id map. Returns whether `text` is one.
///
/// # Panics
/// If what was written does not say the same as what was read.
pub(crate) fn round_trip(text: &[u8]) -> bool {
    if let Ok(unpacked) = gz::decompress(text, 1 << 20) {
        assert!(unpacked.len() <= 1 << 20);
    }
    let Ok(mut map) = IdMap::parse(text) else { return false };
    assert_eq!(map.valid_len() + map.torn_len(), text.len());
    let mut all = Vec::new();
    map.write_all(&mut all);
    let copy = IdMap::parse(&all).expect("what was written");
    assert_eq!((copy.len(), copy.torn_len()), (map.len(), 0));
    assert!(copy.iter().eq(map.iter()), "the copy differs");
    let mut again = Vec::new();
    copy.write_all(&mut again);
    assert!(again == all, "written twice, in two ways");

    let mut last = 0;
    for entry in map.iter() {
        assert!(entry.id > last && entry.id <= i32::MAX as u32);
        last = entry.id;
        assert_eq!(map.lookup(entry.id), Some(entry));
        let found = map.find(entry.class, entry.method.name, entry.method.descriptor);
        // Calls of a method have an id of their own.
        assert_eq!(found == Some(entry.id), !entry.method.is_library_call(), "{entry:?}");
    }
    let odd = || map.iter().filter(|entry| entry.id % 2 == 1);
    let mut part = Vec::new();
    map.write_part(odd().map(|entry| entry.id), &mut part);
    assert!(IdMap::parse(&part).expect("a part").iter().eq(odd()), "the part differs");

    // Appended to the whole lines, what is new makes the map that it was written from.
    let extended = |map: &IdMap| {
        let mut text = text[..map.valid_len()].to_vec();
        map.write_new(&mut text);
        text
    };
    if map.valid_len() > 0 {
        assert_eq!(extended(&map).len(), map.valid_len(), "something is new already");
    }
    let known = map.iter().next().map(|entry| (entry.class.to_vec(), entry.method.name.to_vec()));
    let (class, name) = known.unwrap_or_default();
    let source = [None, Some(&b"-"[..]), Some(b"")][text.len() % 3];
    let method = MethodInfo { name: &name, descriptor: b"(new)", line: 7, flags: 9, fingerprint: !0 };
    if let Ok(class) = map.begin_class(&class, source)
        && map.assign(class, &method).is_ok()
    {
        let longer = IdMap::parse(&extended(&map)).expect("what was appended");
        assert!(longer.iter().eq(map.iter()), "the extended map differs");
    }
    true
}
