//! Colour, bars and tree lines of text on a terminal. Without colour there is none of them, and the text is the same otherwise.
//!
//! Only the sixteen colours of the terminal's own theme are used, and none says anything that a figure beside it does not say.

use std::fmt;

use super::Options;

/// Figures from this share of the whole on stand out.
const LARGE: f64 = 0.1;
/// Below this share they step back.
const SMALL: f64 = 0.01;
/// Columns of a bar that is full.
pub(crate) const BAR: usize = 10;

const BOLD: anstyle::Style = anstyle::Style::new().bold();
const DIMMED: anstyle::Style = anstyle::Style::new().dimmed();
const HOT: anstyle::Style =
    anstyle::Style::new().bold().fg_color(Some(anstyle::Color::Ansi(anstyle::AnsiColor::Yellow)));
const BLUE: anstyle::Style =
    anstyle::Style::new().fg_color(Some(anstyle::Color::Ansi(anstyle::AnsiColor::Blue)));

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    is_on: bool,
}

/// A text in its style; it writes the text alone where there is no colour.
pub(crate) struct Painted<T> {
    text: T,
    style: Option<anstyle::Style>,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            Some(style) => write!(f, "{style}{}{style:#}", self.text),
            None => self.text.fmt(f),
        }
    }
}

impl Style {
    /// As the options say.
    pub(crate) fn of(options: &Options<'_>) -> Style {
        Style { is_on: options.colour }
    }

    /// Without colour.
    pub(crate) const PLAIN: Style = Style { is_on: false };

    /// Whether there is colour.
    pub(crate) fn is_on(self) -> bool {
        self.is_on
    }

    fn paint<T: fmt::Display>(self, style: anstyle::Style, text: T) -> Painted<T> {
        Painted { text, style: self.is_on.then_some(style) }
    }

    /// The names of columns.
    pub(crate) fn header<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(BOLD, text)
    }

    /// What leads the eye and says nothing by itself: tree lines, rules.
    pub(crate) fn line<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.paint(DIMMED, text)
    }

    /// A figure, by its share of the whole; one that cannot be told from nothing is small.
    pub(crate) fn figure<T: fmt::Display>(self, share: f64, is_hidden: bool, text: T) -> Painted<T> {
        let style = match share {
            _ if is_hidden => Some(DIMMED),
            share if share >= LARGE => Some(HOT),
            share if share >= SMALL => None,
            _ => Some(DIMMED),
        };
        Painted { text, style: style.filter(|_| self.is_on) }
    }

    /// A bar of [`BAR`] columns for a share of the whole, in steps of an eighth of a column.
    pub(crate) fn bar(self, share: f64) -> Painted<String> {
        let eighths = (share.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
        let part = ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
        let bar = format!("{}{}", "\u{2588}".repeat(eighths / 8), part[eighths % 8]);
        self.paint(BLUE, format!("{bar:<BAR$}"))
    }
}

/// The lines of a tree in front of a name: two columns for each level above it.
///
/// `is_last`: of the context itself and of those above it, the outermost first, whether it is the last one of its caller.
pub(crate) fn tree_lines(is_last: &[bool]) -> String {
    let Some((own, above)) = is_last.split_last() else { return String::new() };
    let above = above.iter().map(|is_last| if *is_last { "  " } else { "\u{2502} " });
    above.chain([if *own { "\u{2514} " } else { "\u{251c} " }]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Style = Style { is_on: true };

    #[test]
    fn without_colour_there_is_the_text_alone() {
        assert_eq!(Style::PLAIN.header("a").to_string(), "a");
        assert_eq!(Style::PLAIN.figure(1.0, false, "a").to_string(), "a");
        assert_eq!(ON.header("a").to_string(), "\u{1b}[1ma\u{1b}[0m");
        assert_eq!(ON.figure(0.05, false, "a").to_string(), "a");
        assert_eq!(ON.figure(0.5, true, "a").to_string(), ON.line("a").to_string());
        assert_eq!(ON.figure(f64::NAN, false, "a").to_string(), ON.line("a").to_string());
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        let bar = |share| Style::PLAIN.bar(share).to_string();
        assert_eq!(bar(0.0), " ".repeat(BAR));
        assert_eq!(bar(1.0), "\u{2588}".repeat(BAR));
        assert_eq!(bar(0.55), format!("{}\u{258c}    ", "\u{2588}".repeat(5)));
        assert_eq!(bar(7.0), bar(1.0));
        assert_eq!(bar(-1.0), bar(0.0));
        assert_eq!(bar(f64::NAN), bar(0.0));
        for eighth in 0..=8 * BAR {
            assert_eq!(bar(eighth as f64 / (8 * BAR) as f64).chars().count(), BAR);
        }
    }

    #[test]
    fn lines_end_with_the_last_one() {
        assert_eq!(tree_lines(&[]), "");
        assert_eq!(tree_lines(&[false]), "\u{251c} ");
        assert_eq!(tree_lines(&[true, false, true]), "  \u{2502} \u{2514} ");
    }
}
