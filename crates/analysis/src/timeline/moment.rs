//! Moments as people write them: `1.5s`, `250ms`, `1234567ns`.

use crate::export::timeline::ns_per_unit;

/// ns of a time with its unit; none: it is no such time. Whole ns are exact.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = (&text[..at], text[at..].trim());
    let scale = ns_per_unit(unit)?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale as u64);
    }
    let ns = number.parse::<f64>().ok()? * scale;
    (0.0..=1.8e19).contains(&ns).then(|| ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_a_unit() {
        let cases = [
            ("1.5s", Some(1_500_000_000)),
            ("250 ms", Some(250_000_000)),
            ("9007199254740993ns", Some(9_007_199_254_740_993)),
            ("7us", Some(7000)),
            ("7", None),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("1.2.3s", None),
            ("5 days", None),
            ("99999999999999999999s", None),
            ("18446744073709551615s", None),
        ];
        for (text, ns) in cases {
            assert_eq!(parse(text), ns, "{text:?}");
        }
    }
}
