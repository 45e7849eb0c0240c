//! What a report can be asked, to be kept and changed before it is printed.

use super::fold::Fold;
use super::{Format, Options, Show, Sort};
use crate::model::{Arcflow, Kind};
use crate::session::Methods;

/// What is cut from text unless asked for otherwise, in percent.
const PRUNE: f64 = 0.1;

/// What is printed, and how.
#[derive(Debug, Clone, Default)]
pub struct Print {
    pub format: Format,
    /// Names of the resources; none: the usual ones.
    pub resource: Vec<String>,
    /// Figures of text.
    pub show: Show,
    /// Order.
    pub sort: Option<Sort>,
    /// At most this many rows.
    pub top: Option<usize>,
    /// What has a smaller share of the whole is cut, in percent; of text 0.1 unless asked for otherwise.
    pub prune: Option<f64>,
    /// Patterns of the methods that are meant, as they were given.
    pub method: Vec<String>,
    /// Text shows the source file and first line of methods.
    pub lines: bool,
    /// Columns of a line.
    pub width: Option<usize>,
}

impl Print {
    /// Hands the options to `write`. `methods`: those that are meant. `colour`: whether text is for a terminal with colours.
    pub fn with<T>(
        &self,
        depth: Option<usize>,
        methods: &Methods,
        colour: bool,
        write: impl FnOnce(&Options<'_>) -> T,
    ) -> T {
        let select = calls_of(methods);
        let is_text = self.format == Format::Text;
        write(&Options {
            format: self.format,
            resources: &self.resource,
            show: self.show,
            sort: self.sort,
            top: self.top,
            depth,
            arcs: None,
            prune: self.prune.unwrap_or(if is_text { PRUNE } else { 0.0 }) / 100.0,
            width: self.width,
            colour,
            lines: self.lines,
            flat: false,
            fold: Fold { recursion: is_text, chains: is_text },
            focus: None,
            within: &[],
            select: if methods.is_empty() { None } else { Some(&select) },
        })
    }
}

/// Whether a consumer is one of these methods and links.
pub fn calls_of(methods: &Methods) -> impl Fn(Kind, &str) -> bool + Sync {
    |kind, name| kind.is_looked_up() && methods.fits(name)
}

/// What is to be said of the times of a report about these resources, or about the usual ones.
pub fn correction_line(model: &Arcflow, resources: &[String]) -> Option<String> {
    let is_time = |name: &String| model.resource(name).is_none_or(|r| model.resources()[r].unit == "ns");
    model.correction.line().filter(|_| resources.is_empty() || resources.iter().any(is_time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_cut_and_folded_unless_asked_for() {
        let cut = |print: Print| print.with(None, &Methods::default(), false, |options| options.prune);
        assert_eq!(cut(Print::default()), 0.001);
        assert_eq!(cut(Print { format: Format::Json, ..Print::default() }), 0.0);
        assert_eq!(cut(Print { format: Format::Json, prune: Some(5.0), ..Print::default() }), 0.05);
        let folds = |format| {
            let print = Print { format, ..Print::default() };
            print.with(None, &Methods::default(), false, |options| options.fold.chains)
        };
        assert!(folds(Format::Text) && !folds(Format::Csv));
    }
}
