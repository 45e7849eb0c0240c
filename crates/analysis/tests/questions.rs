//! Questions of a page about the timeline, as a stranger could send them: no text makes the server panic or answer without end.

use std::fs;

use instrument_analysis::session::{Request, Session};
use instrument_analysis::timeline::{Question, Timeline};
use instrument_testing::{Script, Writer};

const QUESTIONS: usize = 100_000;
/// Bytes of an answer.
const LONGEST: usize = 1 << 20;

/// A small random number generator (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }
}

/// Numbers near what the trace has, near the limits of their types, and none.
fn number(random: &mut Random) -> String {
    match random.below(8) {
        0 => random.next().to_string(),
        1 => (u64::MAX - random.next() % 3).to_string(),
        2 => (u64::from(u32::MAX) + random.next() % 3).to_string(),
        3 => ["", "-1", "+1", "0x1", "1e3", "\u{661}", "999999999999999999999"][random.below(7)].to_owned(),
        4 => (random.next() % 10).to_string(),
        _ => (random.next() % 4000).to_string(),
    }
}

fn question(random: &mut Random) -> String {
    let rows: Vec<_> = (0..1 + random.below(4)).map(|_| number(random)).collect();
    let mut text = format!("{}-{}/{}", number(random), number(random), rows.join("."));
    if random.below(2) == 0 {
        text += &format!("/{}", number(random));
    }
    if random.below(8) == 0 {
        // Cut off, doubled, or with a letter in it.
        let at = random.below(text.len());
        if text.is_char_boundary(at) {
            match random.below(3) {
                0 => text.truncate(at),
                1 => text.insert(at, ['/', '.', '-', '\0', '\u{202e}'][random.below(5)]),
                _ => text = text.repeat(2),
            }
        }
    }
    text
}

#[test]
fn no_question_makes_the_server_panic() {
    let script = |id: u32| {
        let mut script = Script::new(1000).enter(id);
        for i in 0..40 {
            script = script.call(2 + i % 3, |s| s.wait(20).call(9, |s| s.wait(5))).wait(3);
        }
        script.exit(id)
    };
    let mut writer = Writer::new();
    writer.property("record", "trace").trace("main", &script(1), 7);
    writer.trace("other", &script(5), 50);
    writer.clocks(5000, 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.iprof");
    fs::write(&path, writer.finish()).unwrap();
    let request = Request { files: vec![path], ..Request::default() };
    let session = Session::read_indexed(&request, &|_| ()).unwrap();
    let timeline = Timeline::of_session(&session, &request).unwrap();
    let mut random = Random(1);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..QUESTIONS {
        let text = question(&mut random);
        let Some(question) = Question::parse(&text) else {
            refused += 1;
            continue;
        };
        let answer = question.answer(&timeline, &session.profiles).unwrap();
        assert!(answer.len() <= LONGEST, "{text}: {} bytes", answer.len());
        assert!(serde_json::from_str::<serde_json::Value>(&answer).is_ok(), "{text}: {answer}");
        answered += 1;
    }
    assert!(answered > QUESTIONS / 10 && refused > QUESTIONS / 10, "{answered} {refused}");
}
