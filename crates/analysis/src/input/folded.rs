//! Folded stacks: samples, one stack a line, as the stackcollapse scripts of the FlameGraph tools, async-profiler
//! (`-o collapsed`) and many others write them.
//!
//! ```text
//! [main tid=4711];Main.main;Main.price 12
//! ```
//!
//! Frames are separated by `;`, outermost first; behind the last blank is how much was sampled there, any number that
//! is not negative. It becomes both n and the one resource, `samples`, of the innermost frame. A first frame in
//! brackets is a thread, as async-profiler names them, but for what profilers put there for code they cannot name:
//! `[unknown]`, `[libc.so.6]`. A frame without a name is taken for `[unknown]`. A line that shares its outer frames
//! with the one before is read fastest.

use super::Error;
use super::lines::{self, Lines, shown};
use crate::model::{Arcflow, Kind, NodeId, Resource};
use std::io::BufRead;

/// Stands for outermost frames that are missing.
pub(crate) const TRUNCATED: &str = "[truncated]";

/// Frames that profilers put in brackets and that are no threads.
const MARKS: [&str; 12] = [
    "unknown",
    "unknown_Java",
    "not_walkable_Java",
    "not_walkable_not_Java",
    "no_Java_frame",
    "deoptimization",
    "break_interpreted",
    "safepoint",
    "GC_active",
    "error",
    "skipped",
    "truncated",
];

/// Whether an input whose first line is this one may hold folded stacks.
pub(super) fn begins(line: &[u8]) -> bool {
    split(line).is_ok()
}

/// Reads folded stacks.
///
/// # Errors
/// The first line that cannot be understood.
pub fn read(reader: impl BufRead) -> Result<Arcflow, Error> {
    read_lines(Lines::new(reader))
}

pub(super) fn read_lines(mut lines: Lines<impl BufRead>) -> Result<Arcflow, Error> {
    let mut model = Arcflow::new(vec![Resource { name: "samples".into(), unit: String::new() }]);
    model.consumers = "frames".into();
    model.occurrences = "samples".into();
    let mut previous = Stack::default();
    while let Some(line) = lines.next()? {
        let (stack, value) = match split(line) {
            Ok(parts) => parts,
            Err(reason) => return Err(lines.error(reason)),
        };
        let node = previous.follow(stack, &mut model);
        model.meet(node, value.round() as u64);
        model.base_mut(node)[0] += value;
    }
    Ok(model)
}

fn split(line: &[u8]) -> Result<(&[u8], f64), String> {
    let at = memchr::memrchr2(b' ', b'\t', line).ok_or("no number behind the stack")?;
    let (stack, value) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    match lines::number(value) {
        Some(value) if value >= 0.0 => Ok((stack, value)),
        Some(_) => Err(format!("`{}` is negative", shown(value))),
        None => Err(format!("`{}` is no number", shown(value))),
    }
}

/// The stack of the line before.
#[derive(Default)]
struct Stack {
    text: Vec<u8>,
    /// End of each frame in the text, and its node.
    frames: Vec<(usize, NodeId)>,
}

impl Stack {
    /// The node of a stack's innermost frame, found or made from the frames that it does not share.
    fn follow(&mut self, stack: &[u8], model: &mut Arcflow) -> NodeId {
        let same = common_prefix(&self.text, stack);
        let ends_there = |end: usize| end <= same && stack.get(end).is_none_or(|&byte| byte == b';');
        let shared = self.frames.iter().take_while(|(end, _)| ends_there(*end)).count();
        self.frames.truncate(shared);
        self.text.truncate(same);
        self.text.extend_from_slice(&stack[same..]);
        let (mut from, mut node) = match self.frames.last() {
            Some(&(end, node)) => (end + 1, node),
            None => (0, Arcflow::ROOT),
        };
        while from <= stack.len() {
            let end = memchr::memchr(b';', &stack[from..]).map_or(stack.len(), |length| from + length);
            let frame = String::from_utf8_lossy(&stack[from..end]);
            let (kind, name) = match thread(&frame).filter(|_| from == 0) {
                Some(thread) => (Kind::Thread, thread),
                None if frame.is_empty() => (Kind::Method, "[unknown]"),
                None => (Kind::Method, &*frame),
            };
            let consumer = model.consumer(name);
            node = model.child(node, kind, consumer);
            self.frames.push((end, node));
            from = end + 1;
        }
        node
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count();
    let same = steps * STEP;
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}

/// The name of the thread that a first frame stands for.
fn thread(frame: &str) -> Option<&str> {
    let name = frame.strip_prefix('[')?.strip_suffix(']').filter(|name| !name.is_empty())?;
    let library = name.starts_with('[') || name.ends_with(".so") || name.contains(".so.");
    (!library && !MARKS.contains(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Base by path.
    fn paths(model: &Arcflow) -> BTreeMap<String, f64> {
        let mut paths = vec![String::new()];
        for node in &model.nodes()[1..] {
            let above = &paths[node.parent.0 as usize];
            paths.push(format!("{above}/{:?} {}", node.kind, model.name(node.consumer)));
        }
        let base = |i| model.base(NodeId(i as u32))[0];
        let found = paths.into_iter().enumerate().map(|(i, path)| (path, base(i)));
        found.filter(|(_, base)| *base > 0.0).collect()
    }

    #[test]
    fn stacks_of_others_are_read() {
        let text = "[main tid=7];java/lang/Thread.run;a b(int) 3\r\n[main tid=7];java/lang/Thread.run 1\n\
                    [main tid=7];java/lang/Thread.ru 1\n[libc.so.6];x_[k] 0.5\n[unknown];;x 2\n#17;a 4\n# a comment 5\n";
        let found = paths(&read(text.as_bytes()).unwrap());
        let expected = [
            ("/Method #17/Method a", 4.0),
            ("/Method [libc.so.6]/Method x_[k]", 0.5),
            ("/Method [unknown]/Method [unknown]/Method x", 2.0),
            ("/Thread main tid=7/Method java/lang/Thread.ru", 1.0),
            ("/Thread main tid=7/Method java/lang/Thread.run", 1.0),
            ("/Thread main tid=7/Method java/lang/Thread.run/Method a b(int)", 3.0),
        ];
        assert_eq!(found.iter().map(|(path, base)| (path.as_str(), *base)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, message) in [
            ("a;b 1\n\na;b\n", "line 3: no number behind the stack"),
            ("a;b x\n", "line 1: `x` is no number"),
            ("a;b -1\n", "line 1: `-1` is negative"),
            ("a;b NaN\n", "line 1: `NaN` is no number"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_deep_stack_is_read() {
        let line = format!("{}f 1\n", "f;".repeat(99_999));
        let model = read(line.as_bytes()).unwrap();
        assert_eq!((model.nodes().len(), model.cum()[0]), (100_001, 1.0));
    }

    proptest! {
        #[test]
        fn shared_frames_change_nothing(
            lines in prop::collection::vec(("[ab]{1,3}(;[ab]{0,3}){0,5}", 1u32..9), 0..40)
        ) {
            let text: String = lines.iter().map(|(stack, value)| format!("{stack} {value}\n")).collect();
            let named = |frame: &str| if frame.is_empty() { "[unknown]".to_owned() } else { frame.to_owned() };
            let mut expected = BTreeMap::new();
            for (stack, value) in &lines {
                let path: String = stack.split(';').map(|frame| format!("/Method {}", named(frame))).collect();
                *expected.entry(path).or_insert(0.0) += f64::from(*value);
            }
            prop_assert_eq!(paths(&read(text.as_bytes()).unwrap()), expected);
        }
    }
}
