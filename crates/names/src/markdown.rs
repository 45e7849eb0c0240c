//! Text of programs and files in Markdown, as GitHub reads it: the one home of that rule.
//!
//! A name may hold backticks, tags, links and mentions: in a code span, a fence or an element that it cannot end, they
//! are text. What harms a terminal is escaped as everywhere else, see [`printable`](crate::printable).

use crate::printable::{printable, printable_lines};

/// A code span. Not for the cells of a table, which a bar ends even there.
///
/// ```
/// # use instrument_names::markdown::code;
/// assert_eq!(code("Shop#price"), "`Shop#price`");
/// assert_eq!(code("a`b"), "``a`b``");
/// ```
pub fn code(text: &str) -> String {
    let text = printable(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // One space is taken from either side; without a character between them the backticks are text.
    let pad = if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A `code` element, for places where only HTML is read, as in a summary.
pub fn html_code(text: &str) -> String {
    let text = printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<code>{text}</code>")
}

/// A fenced block of lines, with its line ends; `language` is for the colours.
pub fn block(language: &str, lines: &str) -> String {
    let lines = printable_lines(lines);
    let fence = "`".repeat(longest_run(&lines).max(2) + 1);
    let end = if lines.is_empty() || lines.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{lines}{end}{fence}\n")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_ends_what_it_is_in() {
        assert_eq!(code(""), "`  `");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("``<img>"), "``` ``<img> ```");
        assert_eq!(code("a\n- b"), "`a\\u000a- b`");
        assert_eq!(html_code("</code><b>&"), "<code>&lt;/code&gt;&lt;b&gt;&amp;</code>");
        assert_eq!(block("diff", "+a"), "```diff\n+a\n```\n");
        assert_eq!(block("diff", "+a\n```\n<b>\n"), "````diff\n+a\n```\n<b>\n````\n");
    }

    proptest! {
        /// No run of backticks inside is as long as the one that ends the span or the block; nothing breaks the line of
        /// a span.
        #[test]
        fn fences_are_longer_than_what_is_inside(text in "[`a<\\n ]{0,20}") {
            let span = code(&text);
            let fence = span.chars().take_while(|c| *c == '`').count();
            let inside = &span[fence..span.len() - fence];
            prop_assert!(!inside.is_empty() && !inside.contains('\n'));
            prop_assert!(longest_run(inside) < fence);
            prop_assert!(!inside.starts_with('`') && !inside.ends_with('`'));
            let block = block("", &text);
            let fence = block.chars().take_while(|c| *c == '`').count();
            let inside = &block[fence + 1..block.len() - fence - 1];
            prop_assert!(fence >= 3 && longest_run(inside) < fence);
        }
    }
}
