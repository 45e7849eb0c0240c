//! What fuzzing of the profile reader runs, and what must hold for any bytes.

use instrument_trace::{Object, Profile, Thread, ThreadKind, TreeConsumer};

/// Reads `data`. Returns whether it is a profile.
///
/// # Panics
/// If more was read than is there.
pub(crate) fn read(data: &[u8]) -> bool {
    let Ok(profile) = Profile::parse(data) else { return false };
    let words = data.len() / 8;
    assert!(profile.threads.len() * 256 <= data.len(), "{} threads", profile.threads.len());
    let (mut frames, mut methods, mut allocations) = (0, 0, 0);
    let (mut contexts, mut pieces) = (0, 0);
    for thread in &profile.threads {
        frames += thread.stack.len();
        methods += thread.methods.len();
        allocations += thread.allocations.len();
        contexts += check_contexts(thread);
        for piece in &thread.pieces {
            pieces += 1;
            assert!(piece.offset + u64::from(piece.length) <= data.len() as u64, "{piece:?}");
        }
    }
    assert!(contexts * 16 <= words && pieces * 8 <= words, "more contexts or pieces than words");
    assert!(profile.links.len() * 4 <= words && profile.regions.len() * 8 <= words);
    assert!(profile.regions.iter().map(|region| region.last.len() * 2).sum::<usize>() <= words);
    assert!(frames <= words && methods <= words && allocations * 2 <= words, "more figures than words");
    assert!(profile.damage.len() <= data.len() / 16, "{} damages", profile.damage.len());
    check_heap(&profile, data);
    check_waits(&profile, data);
    let (imbalances, in_flight) = (profile.imbalances(), profile.in_flight());
    let counted = methods + contexts + profile.threads.len();
    assert!(in_flight <= profile.threads.len() && imbalances.len() + in_flight <= counted);
    let _ = (profile.mode(), profile.calibration());
    for copy in profile.copies.values() {
        assert!(copy.id_maps.iter().map(Vec::len).sum::<usize>() <= data.len());
        // What is not UTF-8 becomes up to three bytes for each.
        assert!(copy.class_names.values().map(String::len).sum::<usize>() <= 3 * data.len());
    }
    true
}

/// Callers lie in front, chains end, and no more is read than there is room for.
fn check_heap(profile: &Profile, data: &[u8]) {
    let words = data.len() / 8;
    let contexts = profile.copies.values().map(|copy| copy.contexts.len()).sum::<usize>();
    assert!(
        contexts <= words && profile.collections.len() * 2 <= words && profile.objects.len() * 8 <= words
    );
    for copy in profile.copies.values() {
        assert!(copy.contexts.iter().all(|(number, context)| context.caller < number));
        let last = copy.contexts.len() as u32;
        assert!(copy.contexts.chain(last).count() <= copy.contexts.len());
    }
    let mut objects = 0;
    let visit = |object: &Object| {
        objects += 1;
        assert!(object.class != 0 && object.outlived().is_none_or(|n| Some(n) <= object.gone));
    };
    profile.for_each_object(&data.to_vec(), visit).expect("data in memory");
    assert!(objects * 4 <= words, "{objects} objects");
}

/// No more is read than there is room for, and numbers find their threads.
fn check_waits(profile: &Profile, data: &[u8]) {
    assert!(profile.java_threads.len() * 256 <= data.len() && profile.waits.len() * 64 <= data.len());
    for thread in &profile.java_threads {
        assert!(profile.java_thread(thread.copy, thread.number) == Some(thread) && thread.number != 0);
    }
    let mut waits = 0;
    profile.for_each_wait(&data.to_vec(), |_| waits += 1).expect("data in memory");
    assert!(waits * 64 <= data.len(), "{waits} waits");
}

/// Frames have methods or contexts, contexts lie behind their callers, and what is summed up is what is there.
fn check_contexts(thread: &Thread) -> usize {
    let node = |number: u32| thread.tree.as_ref().and_then(|tree| tree.node(number));
    for frame in &thread.stack {
        let consumer = node(frame.node).map_or(TreeConsumer::Method(frame.id), |node| node.consumer);
        assert!(consumer.method().is_none_or(|id| id == frame.id && thread.methods.contains_key(&id)));
    }
    let Some(tree) = &thread.tree else { return 0 };
    assert!(tree.nodes.iter().zip(1..).all(|(node, number)| node.parent < number));
    let mut measured = thread.clone();
    measured.measure_open(thread.last_event);
    measured.sum_up();
    // Ended threads may have been counted before they had trees, in a file that nobody would write.
    let is_mixed = thread.kind != ThreadKind::Thread || thread.stack.iter().any(|frame| frame.node == 0);
    assert!(is_mixed || measured.methods == thread.methods);
    tree.nodes.len()
}
