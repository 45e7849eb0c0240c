//! Recordings of Java Flight Recorder.

use flate2::read::GzDecoder;
use instrument_analysis::input::{self, Format};
use instrument_analysis::model::{Arcflow, Kind, NodeId};
use std::io::Read;

/// Of JDK 25, with stacks of 16 frames at most: for 0.3 s the thread `main` runs `D.deep(1, ..)`, and `deep` runs `D.deep(40, ..)`, and both turn
/// numbers into texts. `jfr summary` counts 11 execution samples, 25 samples of CPU time, and one event of one that was lost.
fn recording() -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = include_bytes!("data/samples.jfr.gz");
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The frames of a context, the outermost first.
fn stack(model: &Arcflow, mut id: NodeId) -> Vec<&str> {
    let mut names = Vec::new();
    while id != Arcflow::ROOT {
        names.push(model.name(model.node(id).consumer));
        id = model.node(id).parent;
    }
    names.reverse();
    names
}

#[test]
fn samples_stand_below_their_threads() {
    let read = input::read(&recording()[..]).unwrap();
    let model = &read.model;
    assert_eq!(read.format, Format::Recording);
    let names: Vec<_> = model.resources().iter().map(|of| (of.name.as_str(), of.unit.as_str())).collect();
    assert_eq!(names, [("execution-samples", ""), ("cpu-time-samples", "")]);
    assert_eq!(model.cum()[..2], [11.0, 25.0]);
    assert_eq!((read.remarks.cut, read.remarks.lost), (16, 1));
    // Contexts are met as often as the first of them tells.
    assert_eq!(model.nodes().iter().map(|node| node.n).sum::<u64>(), 11);
    let (deep, text) = ("D.deep(IJ)I", "java.lang.Integer.toString(I)Ljava/lang/String;");
    let mut stacks = model.ids().map(|id| stack(model, id));
    assert!(stacks.any(|stack| stack == ["main", "D.main([Ljava/lang/String;)V", deep, deep, text]));
    let of_deep =
        model.ids().map(|id| stack(model, id)).find(|stack| stack.ends_with(&[deep, text])).unwrap();
    assert!(of_deep.len() > 4 || of_deep[0] == "main", "{of_deep:?}");
    // What is missing has a frame of its own, right below the thread.
    let cut = model.ids().filter(|&id| model.name(model.node(id).consumer) == "[truncated]");
    let above: Vec<_> = cut.map(|id| stack(model, id)).collect();
    assert_eq!(above, [["deep", "[truncated]"]]);
    let threads = model.ids().filter(|&id| model.node(id).kind == Kind::Thread).count();
    assert!((2..9).contains(&threads), "{threads}");
}

#[test]
fn two_chunks_are_read_as_one_recording() {
    let one = recording();
    let read = input::read(&[&one[..], &one[..]].concat()[..]).unwrap();
    assert_eq!(read.model.cum()[..2], [22.0, 50.0]);
    assert_eq!(read.remarks.lost, 2);
}

#[test]
fn damage_is_said_and_takes_nothing_down() {
    let whole = recording();
    let said = |bytes: &[u8]| input::read(bytes).err().map(|error| error.to_string());
    for length in (4..whole.len()).step_by(9973) {
        assert_eq!(
            said(&whole[..length]).as_deref().map(|said| said.starts_with("a recording of JFR: ")),
            Some(true)
        );
    }
    assert_eq!(said(&whole[..whole.len() - 1]).unwrap(), "a recording of JFR: it is cut off");
    let mut open = whole.clone();
    open[8..16].fill(0);
    let expected = "a recording of JFR: a chunk is not finished; `jcmd PID JFR.dump` writes a whole file";
    assert_eq!(said(&open).unwrap(), expected);
    let mut changed = whole.clone();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(613) {
        changed[at] ^= 0xff;
        refused += u32::from(said(&changed).is_some());
        changed[at] = whole[at];
    }
    assert!(refused > 0);
    let mut other = whole.clone();
    for at in 0..other.len() - 7 {
        if other[at..].starts_with(b"Sample") {
            other[at..at + 6].copy_from_slice(b"Sbmple");
        }
    }
    assert!(said(&other).unwrap().starts_with("a recording of JFR: it has none of jdk.ExecutionSample, "));
}

/// In four bytes.
fn number(n: usize) -> [u8; 4] {
    [n | 0x80, n >> 7 | 0x80, n >> 14 | 0x80, n >> 21].map(|byte| byte as u8)
}

fn event(body: &[u8]) -> Vec<u8> {
    [&number(body.len() + 4)[..], body].concat()
}

/// Of one chunk with one event, of the first class. Classes have a name, how many fields of the next class, and whether these are lists.
fn made(classes: &[(&str, usize, bool)], body: &[u8]) -> Vec<u8> {
    let ids: Vec<String> = (0..=classes.len()).map(|id| (100 + id).to_string()).collect();
    let mut texts = vec!["class", "id", "name", "field", "dimension", "1"];
    let mut elements = [&[0, 0][..], &number(classes.len())].concat();
    for (at, (name, fields, is_list)) in classes.iter().enumerate() {
        let first = texts.len() as u8;
        texts.extend([ids[at].as_str(), *name, ids[at + 1].as_str()]);
        elements.extend([0, 2, 1, first, 2, first + 1, *fields as u8]);
        let field = [3, 3, 2, first + 1, 0, first + 2, 4, if *is_list { 5 } else { 0 }, 0];
        elements.extend(field.repeat(*fields));
    }
    let texts: Vec<u8> =
        texts.iter().flat_map(|text| [&[3, text.len() as u8], text.as_bytes()].concat()).collect();
    let count = 6 + 3 * classes.len() as u8;
    let metadata = event(&[&[0, 0, 0, 1, count][..], &texts, &elements].concat());
    let (first, pools) = (event(&[&[100][..], body].concat()), event(&[1, 0, 0, 0, 0, 0]));
    let at = 68 + first.len();
    let size = at + pools.len() + metadata.len();
    let mut bytes = b"FLR\0\0\x02\0\x01".to_vec();
    for long in [size, at, at + pools.len(), 0, 0, 0, 1_000_000_000] {
        bytes.extend((long as u64).to_be_bytes());
    }
    [&bytes[..], &[0, 0, 0, 1], &first, &pools, &metadata].concat()
}

#[test]
fn values_that_take_no_bytes_and_events_that_take_those_of_others_are_refused() {
    const LOST: &str = "jdk.CPUTimeSamplesLost";
    let said = |classes: &[(&str, usize, bool)], body: &[u8]| {
        input::read(&made(classes, body)[..]).err().unwrap().to_string()
    };
    assert_eq!(said(&[(LOST, 2, false), ("f", 0, false)], &[]), "a recording of JFR: a value has no fields");
    let deep = [&[(LOST, 2, false)][..], &[("f", 2, false); 12]].concat();
    assert_eq!(said(&deep, &[]), "a recording of JFR: values stand too deep within each other");
    let list = [(LOST, 1, true), ("byte", 0, false)];
    assert_eq!(said(&list, &[9, 0]), "a recording of JFR: it ends in the middle of a value");
    assert!(said(&list, &[2, 0, 0]).starts_with("a recording of JFR: it has none of jdk.ExecutionSample, "));
    let many = [&number((1 << 16) + 1)[..], &[0; (1 << 16) + 1]].concat();
    assert_eq!(said(&list, &many), "a recording of JFR: a value has too many parts");
}
