//! `armed`: the agent is in the program from its start on, and does nothing but answer requests until one asks for a recording, which
//! `stop` ends again, as often as wanted.
//!
//! What can be had of the virtual machine only before it is initialised is taken then:
//!
//! - The runtime lies on the boot path: class data sharing prints no warning when a recording begins.
//! - Capabilities are requested: compiled code records on what it depends, so that the first retransformation need not throw all of it
//!   away; and requests can name the monitors of threads, which some versions grant at the start only.
//! - The library is there: since Java 21 loading it later prints a warning (JEP 451), and can be forbidden.
//!
//! No event is turned on meanwhile but those of the start and the end of the virtual machine.

use crate::options::Requests;
use crate::recording::clock::Pair;
use std::sync::OnceLock;

/// What a program was armed with.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux says who asks"))]
pub(crate) struct Armed {
    /// The option string: a recording that is not told otherwise begins with it.
    pub(crate) options: String,
    /// Where requests are answered, from the start to the end.
    pub(crate) ctl: Requests,
    /// What the clock of the first recording begins with: the longer ago, the better it is known. None: the counter cannot be used.
    pub(crate) clock: Option<Pair>,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// None: the program is not armed.
pub(crate) fn get() -> Option<&'static Armed> {
    ARMED.get()
}

/// The agent is loaded; the virtual machine has one thread so far.
pub(crate) fn set(armed: Armed) {
    // Only the first agent comes here.
    let _ = ARMED.set(armed);
}
