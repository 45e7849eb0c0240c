//! What happened since a snapshot, from profiles that tests write.

use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::window::{Mismatch, since, without_idle};
use instrument_analysis::{Arcflow, NodeId};
use instrument_testing::{Script, Writer};
use instrument_trace::{NO_MIN, Profile, ThreadKind};

fn profile(beat: u64, threads: &[(&str, Script)], ended: Option<(u64, Script)>) -> Profile {
    let mut writer = Writer::new();
    for (name, script) in threads {
        writer.tree(name, script);
    }
    if let Some((count, script)) = ended {
        writer.ended(count, &script.record());
    }
    writer.calibrated(0.0, 0.0).clocks(beat, 0);
    Profile::parse(&writer.finish()).unwrap()
}

/// Calls and wall by path, of the methods.
fn lines(profile: &mut Profile) -> Vec<String> {
    for (id, method) in profile.threads.iter().flat_map(|thread| &thread.methods) {
        assert_eq!(method.balance(), 0, "the balance of method {id}: {method:?}");
    }
    let names = |_, id| format!("m{id}");
    let mut processes = [Process::new(profile, "p".into(), &names)];
    let model = without_idle(&load(&mut processes, &Options::default()).model);
    let (wall, mut lines) = (model.resource("wall").unwrap(), Vec::new());
    for id in model.ids() {
        let (mut path, mut at) = (Vec::new(), id);
        while at != Arcflow::ROOT {
            path.insert(0, model.name(model.node(at).consumer));
            at = model.node(at).parent;
        }
        if path.last().is_some_and(|name| name.starts_with('m')) && path.len() > 2 {
            lines.push(format!("{} {} {}", path[2..].join(" "), model.node(id).n, model.base(id)[wall]));
        }
    }
    assert!(model.node(NodeId(0)).n == 0);
    lines
}

fn begin() -> Script {
    Script::new(1000).enter(1).wait(500).call(2, |s| s.wait(100)).call(2, |s| s.wait(10)).enter(3).wait(50)
}

#[test]
fn only_what_is_new_counts() {
    let early = profile(1660, &[("main", begin())], None);
    let later = begin().wait(30).exit(3).call(2, |s| s.wait(7)).call(4, |s| s.wait(9)).wait(4);
    let mut profile = profile(1710, &[("main", later)], None);
    since(&mut profile, early).unwrap();
    assert_eq!(profile.window_clock, 1660);
    // m1 and m3 were open; m3 has been left since.
    let tree = profile.threads[0].tree.clone().unwrap();
    assert_eq!(lines(&mut profile), ["m1 1 4", "m1 m2 1 7", "m1 m3 1 30", "m1 m4 1 9"]);
    // Of the calls of m2 in the window it is not known which was shortest, as 7 ns are less than before but 100 are not reached.
    let node = |id: u32| tree.nodes.iter().find(|node| node.consumer.method() == Some(id)).unwrap();
    assert_eq!((node(2).min, node(2).max), (NO_MIN, 0));
    assert_eq!((node(4).min, node(4).max), (9, 9));
}

#[test]
fn a_thread_that_was_added_to_the_ended_ones_is_taken_from_them() {
    let early = profile(1660, &[("main", begin())], Some((2, Script::new(900).call(5, |s| s.wait(40)))));
    let ended = Script::new(900).call(5, |s| s.wait(40));
    let mut all = ended.record();
    let whole = begin().wait(30).exit(3).wait(5).exit(1).record();
    all.tree.absorb(&whole.tree);
    let mut writer = Writer::new();
    writer.ended(3, &all);
    writer.calibrated(0.0, 0.0).clocks(2000, 0);
    let mut profile = Profile::parse(&writer.finish()).unwrap();
    since(&mut profile, early).unwrap();
    assert_eq!(profile.threads[0].kind, ThreadKind::Ended(1));
    assert_eq!(lines(&mut profile), ["m1 1 5", "m1 m3 1 30"]);
}

#[test]
fn nothing_is_taken_from_what_does_not_belong_together() {
    let early = profile(1660, &[("main", begin())], None);
    let mut later = profile(1600, &[("main", begin())], None);
    later.threads[0].last_event = 1600;
    assert_eq!(since(&mut later.clone(), early.clone()), Err(Mismatch::Later));
    later.pid += 1;
    assert_eq!(since(&mut later, early), Err(Mismatch::OtherProcess));
}

/// An entry that is not timed takes the place of the last moment on the stack.
#[test]
fn what_has_more_calls_is_later_also_where_its_last_moment_is_earlier() {
    let early = profile(1000, &[("main", begin())], None);
    let more = begin().call(4, |s| s.wait(9));
    let mut later = profile(1000, &[("main", more)], None);
    later.threads[0].last_event = early.threads[0].last_event - 20;
    assert_eq!(since(&mut early.clone(), later.clone()), Err(Mismatch::Later));
    let moment = later.threads[0].last_event;
    since(&mut later, early).unwrap();
    assert_eq!(later.window_clock, moment);
    assert_eq!(later.threads[0].methods[&4].entries, 1);
    assert!(later.threads[0].methods.get(&2).is_none_or(|method| method.entries == 0));
}
