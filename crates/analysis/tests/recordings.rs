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
