//! Where in a file of options something stands.

use std::ops::Range;

/// `FILE:LINE:COLUMN` of a part (in bytes) of the text of the file `name`.
pub fn place(text: &str, name: &str, span: Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before[line_start..].chars().count() + 1;
    format!("{name}:{}:{column}", before.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn lines_and_columns_count_from_one() {
        for (at, expected) in [(0, "f:1:1"), (2, "f:1:3"), (3, "f:2:1"), (6, "f:2:3"), (99, "f:2:3")] {
            assert_eq!(place("ab\n\u{e9}x", "f", at..at), expected, "{at}");
        }
    }
}
