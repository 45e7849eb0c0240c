//! Which methods are the program's own: for reports that show nothing else on request.

/// In the place of a pattern: what the first screen of `report` finds.
pub(crate) const AUTO: &str = "auto";

/// The program's own methods.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Only the program's own methods, and calls with values: what libraries consumed is their caller's; `auto`: those that `report` puts
    /// first
    #[arg(long, value_name = "PATTERN")]
    own: Vec<String>,
}

impl Opts {
    /// The patterns for [`instrument_analysis::session::Request::own`].
    pub(crate) fn patterns(&self) -> Option<Vec<String>> {
        let given = self.own.iter().filter(|pattern| *pattern != AUTO);
        (!self.own.is_empty()).then(|| given.cloned().collect())
    }
}
