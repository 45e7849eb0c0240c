//! Links: work that was caused in one context and done in another.

/// How a link came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// A thread was started.
    Start,
    /// A task was handed over.
    HandOver,
    /// A remote call was made.
    RemoteCall,
    /// Remote calls are served.
    Served,
    /// The virtual machine loads a class.
    ClassLoading,
    /// The virtual machine links an invokedynamic instruction, or a constant that is computed.
    DynamicLinking,
    /// A part of the program that the program itself gave a name, such as a test.
    Boundary,
    /// A call that began before the recording, of a root or of what it had called by then.
    Running,
    /// A kind that this reader does not know.
    Other(u32),
}

/// A link. Its number has a meaning only within its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Its number, from 1.
    pub number: u32,
    /// How it came to be.
    pub kind: LinkKind,
    /// Ordinal of the thread that made it; 0: the ended ones.
    pub thread: u32,
    /// Node of that thread's tree; 0: unknown, or the thread's events tell.
    pub node: u32,
    /// Clock when it was made; 0: many share this link.
    pub clock: u64,
}

impl LinkKind {
    /// What reports call its frames, if what they stand for is work of the virtual machine.
    pub fn machine_work(self) -> Option<&'static str> {
        match self {
            LinkKind::ClassLoading => Some("(class loading)"),
            LinkKind::DynamicLinking => Some("(invokedynamic linking)"),
            _ => None,
        }
    }

    pub(crate) fn new(number: u32) -> LinkKind {
        match number {
            1 => LinkKind::Start,
            2 => LinkKind::HandOver,
            3 => LinkKind::RemoteCall,
            4 => LinkKind::Served,
            5 => LinkKind::ClassLoading,
            6 => LinkKind::DynamicLinking,
            7 => LinkKind::Boundary,
            8 => LinkKind::Running,
            other => LinkKind::Other(other),
        }
    }

    /// Its number in the file.
    pub fn number(self) -> u32 {
        match self {
            LinkKind::Start => 1,
            LinkKind::HandOver => 2,
            LinkKind::RemoteCall => 3,
            LinkKind::Served => 4,
            LinkKind::ClassLoading => 5,
            LinkKind::DynamicLinking => 6,
            LinkKind::Boundary => 7,
            LinkKind::Running => 8,
            LinkKind::Other(other) => other,
        }
    }
}
