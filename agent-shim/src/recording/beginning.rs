//! The ways by which a recording comes into a program.

/// How a recording begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// With the program.
    Start,
    /// The library is loaded into a program that runs.
    Attach,
    /// Somebody asks an armed program for it: the thread that answers begins it.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux says who asks"))]
    Request,
}

impl Beginning {
    /// Whether the program runs already.
    pub(crate) fn is_late(self) -> bool {
        self != Beginning::Start
    }
}
