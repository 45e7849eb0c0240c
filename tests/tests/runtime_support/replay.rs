//! The counts of a trace, by the rules of the format page in their plainest form.

use std::collections::BTreeMap;

use instrument_trace::{Event, Frame, Method, Profile, Thread};

/// Gives the threads of a trace their counts and the frames that are open.
pub(crate) fn replay(profile: &mut Profile, data: &[u8]) {
    for thread in profile.threads.iter_mut().filter(|thread| !thread.pieces.is_empty()) {
        let mut replay = Replay { methods: BTreeMap::new(), stack: Vec::new() };
        let mut clock = 0;
        let mut dropped = 0;
        for (piece, number) in thread.pieces.iter().zip(1..) {
            assert_eq!(piece.number, number);
            assert!(clock == 0 || piece.clock == clock, "the clock of a piece is that of the last event");
            clock = piece.clock;
            for word in data[piece.offset as usize..][..piece.length as usize].chunks_exact(8) {
                let word = u64::from_le_bytes(word.try_into().unwrap());
                if word == 0 {
                    break;
                }
                let (event, ns) = Event::decode(word);
                clock += ns;
                match event {
                    Event::Pause(ns) | Event::Later(ns) => clock += ns,
                    Event::Dropped(events) => dropped += events,
                    event => replay.event(event),
                }
            }
        }
        // Without room for events there is none for these.
        assert!(
            dropped == thread.dropped || thread.stopped && dropped < thread.dropped,
            "{dropped} {thread:?}"
        );
        replay.give(thread);
        thread.last_event = clock;
    }
}

struct Replay {
    methods: BTreeMap<u32, Method>,
    stack: Vec<Frame>,
}

impl Replay {
    fn method(&mut self, id: u32) -> &mut Method {
        self.methods.entry(id).or_default()
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Entry(id) | Event::ConstructorEntry(id) => {
                self.method(id).entries += 1;
                let pending = matches!(event, Event::ConstructorEntry(_));
                self.stack.push(Frame { id, pending, ..Frame::default() });
            }
            Event::Exit(id) | Event::Unwind(id) => {
                if self.close_above(id, |f| !f.pending) {
                    self.stack.pop();
                    let closes = &mut self.method(id).closes;
                    let column =
                        if event == Event::Exit(id) { &mut closes.exits } else { &mut closes.unwinds };
                    *column += 1;
                }
            }
            Event::SuperReturned(id) => {
                if self.close_above(id, |f| f.pending) {
                    self.stack.last_mut().unwrap().pending = false;
                }
            }
            Event::Caught(id) => {
                self.close_above(id, |_| true);
            }
            Event::Surplus(mut surplus, above) => {
                for (at, frame) in std::mem::take(&mut self.stack).into_iter().enumerate() {
                    if frame.pending && surplus > 0 && at >= above as usize {
                        surplus -= 1;
                        self.method(frame.id).closes.aborted += 1;
                    } else {
                        self.stack.push(frame);
                    }
                }
            }
            Event::Gone(frames) => {
                for frame in self.stack.split_off(self.stack.len() - frames as usize) {
                    let closes = &mut self.method(frame.id).closes;
                    *(if frame.pending { &mut closes.aborted } else { &mut closes.unclosed }) += 1;
                }
            }
            Event::Made { .. } | Event::LinkMade(_) => {}
            event => panic!("{event:?}"),
        }
    }

    /// False: the event is unmatched.
    fn close_above(&mut self, id: u32, fits: impl Fn(&Frame) -> bool) -> bool {
        let Some(at) = self.stack.iter().rposition(|f| f.id == id && fits(f)) else {
            self.method(id).unmatched += 1;
            return false;
        };
        for frame in self.stack.split_off(at + 1) {
            let closes = &mut self.method(frame.id).closes;
            *(if frame.pending { &mut closes.aborted } else { &mut closes.unclosed }) += 1;
        }
        true
    }

    fn give(mut self, thread: &mut Thread) {
        for i in 0..self.stack.len() {
            self.method(self.stack[i].id).open += 1;
        }
        thread.methods = self.methods;
        thread.stack = self.stack;
    }
}
