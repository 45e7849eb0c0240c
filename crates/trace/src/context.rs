//! Chains of callers that outlive the tree of their thread: what objects and waits refer to.

use crate::bytes::Bytes;
use crate::error::Damage;
use crate::format::*;
use crate::regions::Region;
use crate::tree::TreeConsumer;

/// A method under its callers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// Number of the context that called it, lower than its own; 0: the thread itself.
    pub caller: u32,
    /// As in the file: id + 1, or *deeper*; 0: it was not read.
    method: u32,
}

/// The contexts of a copy of the runtime, numbered from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contexts(Vec<Context>);

impl Context {
    /// Whose context it is; `None`: that could not be read.
    pub fn consumer(&self) -> Option<TreeConsumer> {
        match self.method {
            0 => None,
            DEEPER => Some(TreeConsumer::Deeper),
            id_plus_one => Some(TreeConsumer::Method(id_plus_one - 1)),
        }
    }
}

impl Contexts {
    /// How many there are; the largest number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All with their numbers, callers before what they call.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &Context)> + ExactSizeIterator {
        self.0.iter().enumerate().map(|(i, context)| (i as u32 + 1, context))
    }

    /// The context of a number; 0 is none.
    pub fn get(&self, number: u32) -> Option<&Context> {
        self.0.get((number as usize).checked_sub(1)?)
    }

    /// A context and its callers, innermost first. Empty for 0, and for a number that is not there.
    pub fn chain(&self, number: u32) -> impl Iterator<Item = TreeConsumer> {
        // Callers have lower numbers: this ends.
        std::iter::successors(self.get(number), |context| self.get(context.caller))
            .filter_map(Context::consumer)
    }

    /// Adds the contexts of a region. `room`: contexts for which the regions of this copy have room; beyond, there are none.
    pub(crate) fn read(&mut self, bytes: &Bytes<'_>, region: &Region, room: u64, damage: &mut Vec<Damage>) {
        let mut note = |offset: u64, reason: String| {
            damage.push(Damage { offset, structure: "context", reason });
        };
        let mut number = bytes.u64(region.offset + 16);
        let (mut wild, mut first_wild) = (0u64, 0);
        let mut at = region.offset + HEADER;
        while at + 8 <= region.end() {
            let word = bytes.u64(at);
            if word == 0 {
                break;
            }
            if number == 0 || number > room.min(u32::MAX.into()) {
                note(at, format!("number {number}, in a file with room for {room}"));
                break;
            }
            let mut context = Context { caller: word as u32, method: (word >> 32) as u32 };
            if u64::from(context.caller) >= number {
                if wild == 0 {
                    first_wild = at;
                }
                wild += 1;
                context.caller = 0;
            }
            let index = number as usize - 1;
            if self.0.len() <= index {
                self.0.resize(index + 1, Context::default());
            }
            self.0[index] = context;
            number += 1;
            at += 8;
        }
        if wild > 0 {
            note(first_wild, format!("{wild} contexts have callers that are not in front of them"));
        }
    }
}
