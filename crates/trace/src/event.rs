//! The events of traces.

/// An event as a probe saw it. What closes which frame is for the reader to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A method was entered.
    Entry(u32),
    /// A constructor was entered: its frame is pending.
    ConstructorEntry(u32),
    /// A constructor's super() or this() returned.
    SuperReturned(u32),
    /// A method returned.
    Exit(u32),
    /// An exception left a method.
    Unwind(u32),
    /// A method caught an exception.
    Caught(u32),
    /// An object or array was made.
    Made {
        /// Number of its class.
        class: u32,
        /// Its size, a multiple of 8; 0: unknown.
        bytes: u64,
    },
    /// So many of the pending frames, oldest first, are aborted; of those that have so many frames beneath, or more.
    Surplus(u64, u32),
    /// A link frame was entered.
    LinkEntered(u32),
    /// A link frame was left.
    LinkLeft(u32),
    /// A link was made.
    LinkMade(u32),
    /// ns that the recorder took for itself.
    Pause(u64),
    /// Events dropped here.
    Dropped(u64),
    /// So many of the topmost frames are gone: aborted if they are pending, or else unclosed.
    Gone(u32),
    /// ns to add to the clock.
    Later(u64),
    /// A word of a kind that this reader does not know.
    Unknown(u64),
}

const NUMBER_SHIFT: u32 = 34;
const NUMBER: u64 = (1 << 26) - 1;
const LOW: u64 = (1 << NUMBER_SHIFT) - 1;
const LONG: u64 = (1 << 60) - 1;

impl Event {
    /// The event of a word, and the ns since the event before it.
    #[inline(always)]
    pub fn decode(word: u64) -> (Event, u64) {
        let number = (word >> NUMBER_SHIFT & NUMBER) as u32;
        let low = word & LOW;
        match word >> 60 {
            1 => (Event::Entry(number), low),
            2 => (Event::ConstructorEntry(number), low),
            3 => (Event::SuperReturned(number), low),
            4 => (Event::Exit(number), low),
            5 => (Event::Unwind(number), low),
            6 => (Event::Caught(number), low),
            7 => (Event::Made { class: number, bytes: low * 8 }, 0),
            8 => (Event::Surplus(low, number), 0),
            9 => (Event::LinkEntered(number), low),
            10 => (Event::LinkLeft(number), low),
            11 => (Event::LinkMade(number), low),
            12 => (Event::Pause(word & LONG), 0),
            13 => (Event::Dropped(word & LONG), 0),
            14 => (Event::Gone(number), low),
            15 => (Event::Later(word & LONG), 0),
            _ => (Event::Unknown(word), 0),
        }
    }

    /// The word of an event `ns` after the one before it; `None` if a figure has no room there.
    pub fn encode(self, ns: u64) -> Option<u64> {
        let numbered = |kind: u64, number: u32, low: u64| {
            let fits = u64::from(number) <= NUMBER && low <= LOW;
            fits.then_some(kind << 60 | u64::from(number) << NUMBER_SHIFT | low)
        };
        let long = |kind: u64, value: u64| (ns == 0 && value <= LONG).then_some(kind << 60 | value);
        match self {
            Event::Entry(id) => numbered(1, id, ns),
            Event::ConstructorEntry(id) => numbered(2, id, ns),
            Event::SuperReturned(id) => numbered(3, id, ns),
            Event::Exit(id) => numbered(4, id, ns),
            Event::Unwind(id) => numbered(5, id, ns),
            Event::Caught(id) => numbered(6, id, ns),
            Event::Made { class, bytes } if ns == 0 => numbered(7, class, bytes / 8),
            Event::Surplus(frames, above) if ns == 0 => numbered(8, above, frames),
            Event::LinkEntered(link) => numbered(9, link, ns),
            Event::LinkLeft(link) => numbered(10, link, ns),
            Event::LinkMade(link) => numbered(11, link, ns),
            Event::Pause(pause) => long(12, pause),
            Event::Dropped(events) => long(13, events),
            Event::Gone(frames) => numbered(14, frames, ns),
            Event::Later(later) => long(15, later),
            Event::Made { .. } | Event::Surplus(..) | Event::Unknown(_) => None,
        }
    }
}
