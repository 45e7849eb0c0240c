//! Words of messages that depend on a number.

/// `1 class`, `2 classes`.
pub(crate) fn number(count: u64, noun: &str) -> String {
    let ending = match (count, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{ending}")
}
