//! Changes of what is recorded.

use instrument_testing::Writer;
use instrument_trace::{Change, Profile, SelectionChange};

fn data(action: u32, ids: &[u32], patterns: &str) -> Vec<u8> {
    let words = [7, 0, action, ids.len() as u32].into_iter().chain(ids.iter().copied());
    words.flat_map(u32::to_le_bytes).chain(patterns.bytes()).collect()
}

fn read(data: &[u8]) -> Profile {
    let mut writer = Writer::new();
    writer.selection_change(data);
    Profile::parse(&writer.finish()).unwrap()
}

#[test]
fn what_was_excluded_is_read() {
    let profile = read(&data(1, &[3, 9], "a.**\nb.C#d"));
    let patterns = vec!["a.**".to_owned(), "b.C#d".to_owned()];
    let copy = profile.selection_changes[0].copy;
    let expected = SelectionChange { copy, clock: 7, change: Change::Excluded, ids: vec![3, 9], patterns };
    assert_eq!((profile.selection_changes, profile.damage.len()), (vec![expected], 0));
}

#[test]
fn roots_that_were_added_and_removed_are_told_apart() {
    for (action, change) in [(3, Change::RootsAdded), (4, Change::RootsRemoved)] {
        let changes = read(&data(action, &[3], "b.C#d")).selection_changes;
        assert_eq!(changes.iter().map(|one| one.change).collect::<Vec<_>>(), [change]);
    }
}

#[test]
fn what_is_cut_off_or_unknown_is_damage() {
    let whole = data(2, &[3, 9], "");
    for bytes in [&whole[..0], &whole[..12], &whole[..23], &data(5, &[], "")] {
        let profile = read(bytes);
        assert_eq!((profile.selection_changes.len(), profile.damage.len()), (0, 1), "{bytes:?}");
    }
}
