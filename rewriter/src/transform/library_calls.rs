//! `--library-calls`: calls of methods that are not rewritten, recorded where they are made.
//!
//! | where | code |
//! |---|---|
//! | in front of the call, behind what other transforms insert there | push ID; `libraryEnter` |
//! | behind the call, in front of what other transforms insert there | push ID; `libraryExit` |
//!
//! The id stands for the method that the instruction names; [`library`](crate::library) says for which there is one.
//! The arguments and the result stay where they are on the stack, initialised or not. A branch to the call passes
//! through the entry; one to the instruction behind it does not pass through the exit.
//!
//! There is no handler: a call that an exception leaves is closed by the next event of the method that made it, which
//! is in a handler that it had already or in the one for unwinding (see [`method_events`](super::method_events)).
//! Nothing covers calls that are made in front of `super()`, and that of a library's constructor by `super()` itself:
//! those are closed with the constructor, by whoever sees the exception next.

use super::{MethodSite, Transform};
use crate::code::Reason;
use crate::code::edits::{Edits, Place};
use crate::code::hooks::Hook;

/// The entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LibraryEntries;

/// The exits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LibraryExits;

impl Transform for LibraryEntries {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        !site.library_calls.is_empty()
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let calls = site.library_calls;
        for call in calls {
            let id = site.push(call.id)?;
            let enter = site.call(Hook::LibraryEnter, id)?;
            edits.need_stack(1);
            edits.insert(call.pc, Place::Before, enter);
            edits.sites.library_calls += 1;
        }
        Ok(())
    }
}

impl Transform for LibraryExits {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        !site.library_calls.is_empty()
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let calls = site.library_calls;
        for call in calls {
            let id = site.push(call.id)?;
            let exit = site.call(Hook::LibraryExit, id)?;
            // A long result may be one slot more than there ever was over the arguments.
            edits.need_stack(1);
            edits.insert(call.behind, Place::AfterPrevious, exit);
        }
        Ok(())
    }
}
