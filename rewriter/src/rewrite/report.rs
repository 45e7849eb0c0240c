//! What a caller is asked about a method, and what it hears of methods, regions and classes.

use super::Reason;
use crate::region::RegionFault;

/// A method that is about to be rewritten: what a caller needs to choose its id.
#[derive(Debug, Clone, Copy)]
pub struct MethodRef<'a> {
    /// Position in the class's method table.
    pub index: u16,
    /// `access_flags`.
    pub access_flags: u16,
    /// Modified UTF-8.
    pub name: &'a [u8],
    /// Modified UTF-8.
    pub descriptor: &'a [u8],
}

/// What to do with a method that has code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Rewrite it; the probes get this id.
    Rewrite(u32),
    /// No event of it is recorded, but what it makes and asks for is: `array_allocation`, `remote_http`, `remote_grpc` and `remote_jms`, where these
    /// are wanted.
    Beside,
    /// The same, and calls of one's own ([`insert_calls`](super::ClassRewriter::insert_calls)) are inserted, which get
    /// this id.
    Calls(u32),
    /// Leave it: a filter wants so.
    Leave,
}

/// Outcome of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// At least one method changed; the new class was appended to the output.
    Rewritten,
    /// Nothing changed; nothing was appended.
    Unchanged,
    /// The class as a whole was left as it is; nothing was appended.
    Skipped(Reason),
}

/// Something worth telling about one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodReport {
    /// Position in the class's method table.
    pub index: u16,
    /// What happened.
    pub event: MethodEvent,
}

/// See [`MethodReport`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodEvent {
    /// It was left as it is.
    Skipped(Reason),
    /// The transforms have nothing to insert into it.
    Unchanged,
    /// It was rewritten, and this is worth knowing of it; there may be several of a method.
    Rewritten(Note),
}

/// What is worth knowing of a rewritten method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// It exceeds 8,000 bytes of code now, above which HotSpot never compiles a method.
    CrossedHugeMethodLimit,
    /// So many attributes of its Code attribute are unknown and were kept as they are, although they may hold code
    /// offsets.
    UnknownCodeAttributes(u16),
    /// Allocation sites whose object cannot be handed to a probe.
    UntrackedAllocations(u32),
    /// Calls that may start a thread.
    ThreadStarts(u32),
    /// Calls that hand over a task.
    HandOvers(u32),
    /// Calls that run a statement of `java.sql`, or are told the text of one.
    Statements(u32),
    /// Calls that make a request by HTTP, or serve one.
    Requests(u32),
    /// Calls that open a file, or copy, move or delete one.
    Files(u32),
    /// Places that tell of remote calls.
    RemoteCalls(u32),
    /// Calls into libraries that are recorded where they are made.
    LibraryCalls(u32),
    /// It had no room for its probes: it is a wrapper with them now, and its code is in a private method.
    Wrapped,
    /// As [`Wrapped`](Self::Wrapped), and the code has no room for other transforms: what it makes and calls is not
    /// recorded.
    WrappedBare,
    /// The code region with this number lies in it; of a whole run
    /// ([`Instrumenter`](crate::instrumenter::Instrumenter)) only, which knows the numbers.
    Region(u32),
}

/// Outcome of a region in one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionReport {
    /// Position in the list of regions.
    pub region: usize,
    /// The method that holds it, by its position in the class's method table.
    pub outcome: Result<u16, RegionFault>,
}
