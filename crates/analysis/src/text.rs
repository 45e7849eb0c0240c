//! Figures and names as people read them.

use crate::hash::HashMap;
use instrument_names::printable::printable;
use instrument_names::signature::{brief, parts};
use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

/// Width of every scaled quantity.
const SCALED: usize = 8;

const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const SIZES: [(&str, f64); 5] =
    [("B", 1.0), ("KiB", 1024.0), ("MiB", 1048576.0), ("GiB", 1073741824.0), ("TiB", 1099511627776.0)];

/// The scale of a unit: its steps, and how many of the lowest one it is.
fn scale(unit: &str) -> Option<(&'static [(&'static str, f64)], f64)> {
    match unit {
        "bytes" => Some((&SIZES, 1.0)),
        _ => {
            let factor = TIMES.iter().find(|(name, _)| *name == unit)?.1;
            Some((&TIMES, factor))
        }
    }
}

/// A figure with its unit: times and sizes with four digits in the unit that suits them, others as they are.
pub fn quantity(value: f64, unit: &str) -> String {
    let Some((steps, factor)) = scale(unit) else {
        return plain(value);
    };
    let value = value * factor;
    let size = value.abs();
    // 999.95 would be printed as 1000.0.
    let step = steps.iter().rev().find(|(_, step)| size >= 0.99995 * step).unwrap_or(&steps[0]);
    let step = match steps.iter().find(|(_, next)| *next > step.1) {
        Some(next) if size >= 999.95 * step.1 => next,
        _ => step,
    };
    let shown = value / step.1;
    let digits = match shown.abs() {
        _ if step.1 == 1.0 && shown.fract() == 0.0 => 0,
        x if x < 9.9995 => 3,
        x if x < 99.995 => 2,
        x if x < 999.95 => 1,
        _ => 0,
    };
    format!("{shown:.digits$} {}", step.0)
}

/// A figure without a scale: whole numbers whole, others with up to six digits after the point.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The columns that no figure up to `most` needs more than.
pub(crate) fn quantity_width(most: f64, unit: &str) -> usize {
    let most = quantity(most, unit).len();
    if scale(unit).is_some() {
        most.max(SCALED)
    } else if most > 0 {
        // Parts of a sum of fractions may have more digits than the sum.
        most.max(if unit.is_empty() { 1 } else { 6 })
    } else {
        1
    }
}

/// What no sample met: it is less than that.
pub(crate) fn below(bound: f64, unit: &str) -> String {
    // Without any CPU time there is no bound.
    if bound > 0.0 { format!("< {}", quantity(bound.ceil(), unit)) } else { "-".to_owned() }
}

/// A whole number with commas: `1,234`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many things: `1 method`, `1,234 methods`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// A moment in ms since 1970 as UTC, to the second; none: it is later than the year 9999, as only a damaged file says.
pub(crate) fn date(ms: u64) -> Option<String> {
    let moment = UNIX_EPOCH + Duration::from_millis(ms.min(FIRST_WITHOUT_DATE));
    (ms < FIRST_WITHOUT_DATE).then(|| humantime::format_rfc3339_seconds(moment).to_string())
}

/// 10000-01-01, in ms since 1970.
const FIRST_WITHOUT_DATE: u64 = 253_402_300_800_000;

/// A part of a whole in percent, without the sign; `-` of nothing.
pub fn percent(value: f64, whole: f64) -> String {
    if whole == 0.0 { "-".to_owned() } else { format!("{:.1}", 100.0 * value / whole) }
}

/// A consumer's name as a table shows it: parameters by their simple types, printable.
pub fn shown(name: &str) -> Cow<'_, str> {
    match brief(name) {
        Some(brief) => Cow::Owned(printable(&brief).into_owned()),
        None => printable(name),
    }
}

/// Class and name of a method, without its packages and parameters: `OrderService.list`; other names as they are.
pub(crate) fn in_brief(name: &str) -> String {
    if name.starts_with('(') {
        return name.to_owned();
    }
    let (class, method, _) = parts(name);
    let of = |class: &str| format!("{class}.{method}");
    match class.rsplit(['.', '$']).next().filter(|class| !class.is_empty()) {
        // A class without a name has a number for one: its outer class is in front.
        Some(inner) if inner.starts_with(|c: char| c.is_ascii_digit()) => {
            of(class.rsplit('.').next().unwrap_or(class))
        }
        Some(inner) => of(inner),
        None => method.to_owned(),
    }
}

/// The name in at most `width` characters. What tells least goes first: packages become initials, one after the other
/// (`o.e.j.Parser.parse(String)`), then the types of parameters go, then the packages, then the middle. Of several methods joined by ` > `
/// each is treated so.
pub fn shortened(name: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width else { return Cow::Borrowed(name) };
    // Most names fit, and a name has no more characters than bytes.
    if name.len() <= width || name.chars().count() <= width {
        return Cow::Borrowed(name);
    }
    let mut methods: Vec<Qualified<'_>> = name.split(JOINT).map(Qualified::new).collect();
    let text = |methods: &[Qualified<'_>]| {
        let all: Vec<String> = methods.iter().map(Qualified::text).collect();
        Some(all.join(JOINT)).filter(|text| text.chars().count() <= width)
    };
    for method in 0..methods.len() {
        for package in 0..methods[method].packages.len() {
            let initial = methods[method].packages[package].chars().next().map_or(0, char::len_utf8);
            methods[method].packages[package] = &methods[method].packages[package][..initial];
            if let Some(text) = text(&methods) {
                return Cow::Owned(text);
            }
        }
    }
    methods.iter_mut().for_each(Qualified::forget_parameters);
    if let Some(text) = text(&methods) {
        return Cow::Owned(text);
    }
    methods.iter_mut().for_each(|method| method.packages.clear());
    let all: Vec<String> = methods.iter().map(Qualified::text).collect();
    Cow::Owned(without_middle(&all.join(JOINT), width))
}

/// The names, each as [`shortened`]. Those of overloads that would read the same keep their parameters, and lose the packages first and then the
/// parameters that they have in common.
pub(crate) fn told_apart<'a>(names: &[&'a str], width: Option<usize>) -> Vec<Cow<'a, str>> {
    let short: Vec<Cow<'_, str>> = names.iter().map(|name| shortened(name, width)).collect();
    let Some(width) = width else { return short };
    let mut alike: HashMap<&str, Vec<usize>> = HashMap::default();
    for (at, name) in short.iter().enumerate() {
        alike.entry(name).or_default().push(at);
    }
    let alike: Vec<Vec<usize>> = alike.into_values().filter(|of| of.len() > 1).collect();
    let mut told = short;
    for of in alike {
        for &at in &of {
            let others: Vec<&str> =
                of.iter().map(|&other| names[other]).filter(|&other| other != names[at]).collect();
            if !others.is_empty() {
                told[at] = Cow::Owned(distinct(names[at], &others, width));
            }
        }
    }
    told
}

/// The name with those of its parameters that one of the others, which are methods of the same name, does not have in the same place.
fn distinct(name: &str, others: &[&str], width: usize) -> String {
    fn parameters<'a>(of: &Qualified<'a>) -> Vec<&'a str> {
        of.parameters.trim_start_matches('(').trim_end_matches(')').split(", ").collect()
    }
    let mut method = Qualified::new(name);
    method.packages.clear();
    let text = method.text();
    if text.chars().count() <= width {
        return text;
    }
    let of_others: Vec<Vec<&str>> = others.iter().map(|other| parameters(&Qualified::new(other))).collect();
    let mut kept = String::new();
    for (at, parameter) in parameters(&method).into_iter().enumerate() {
        let differs = of_others.iter().any(|other| other.get(at) != Some(&parameter));
        let word = if differs { parameter } else { "\u{2026}" };
        if word != "\u{2026}" || !kept.ends_with('\u{2026}') {
            kept += if kept.is_empty() { "" } else { ", " };
            kept += word;
        }
    }
    let kept = format!("({kept})");
    method.parameters = &kept;
    without_middle(&method.text(), width)
}

/// Between the methods of a path.
pub(crate) const JOINT: &str = " > ";

/// A method's name, or another one, which has no packages.
struct Qualified<'a> {
    /// Words before the name, such as `call `.
    before: &'a str,
    packages: Vec<&'a str>,
    /// Class and method, or whatever the name is.
    name: &'a str,
    /// With the brackets; empty if there are none.
    parameters: &'a str,
    after: &'a str,
}

impl<'a> Qualified<'a> {
    fn new(text: &'a str) -> Qualified<'a> {
        let whole = Qualified { before: "", packages: Vec::new(), name: text, parameters: "", after: "" };
        let Some(open) = text.find('(') else { return whole };
        let Some(close) = text[open..].find(')').map(|at| open + at + 1) else { return whole };
        let start = text[..open].rfind(' ').map_or(0, |at| at + 1);
        let mut packages: Vec<&str> = text[start..open].split('.').collect();
        let is_method = packages.len() >= 2 && packages.iter().all(|word| !word.is_empty());
        if !is_method {
            return whole;
        }
        // The last two are class and method.
        packages.truncate(packages.len() - 2);
        let skipped: usize = packages.iter().map(|word| word.len() + 1).sum();
        Qualified {
            before: &text[..start],
            packages,
            name: &text[start + skipped..open],
            parameters: &text[open..close],
            after: &text[close..],
        }
    }

    fn forget_parameters(&mut self) {
        if self.parameters.chars().count() > 3 {
            self.parameters = "(\u{2026})";
        }
    }

    fn text(&self) -> String {
        let packages: String = self.packages.iter().flat_map(|package| [package, "."]).collect();
        [self.before, &packages, self.name, self.parameters, self.after].concat()
    }
}

/// A text in at most `width` characters: what is too long loses its middle.
pub fn without_middle(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let kept = width.saturating_sub(1);
    // The end of a name says more than its beginning.
    let head = kept * 2 / 5;
    let tail = kept - head;
    let start: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(length - tail).collect();
    format!("{start}\u{2026}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_a_year_of_four_digits() {
        assert_eq!(date(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(date(253_402_300_799_999).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!((date(253_402_300_800_000), date(u64::MAX)), (None, None));
    }

    #[test]
    fn quantities_have_four_digits_and_the_unit_that_suits_them() {
        for (value, unit, text) in [
            (0.0, "ns", "0 ns"),
            (999.0, "ns", "999 ns"),
            (999.96, "ns", "1.000 us"),
            (1234.0, "ns", "1.234 us"),
            (12345.0, "ns", "12.35 us"),
            (999_940.0, "ns", "999.9 us"),
            (999_960.0, "ns", "1.000 ms"),
            (1e10, "ns", "10.00 s"),
            (1e13, "ns", "10000 s"),
            (10.0, "s", "10.00 s"),
            (0.5, "s", "500.0 ms"),
            (-2500.0, "ns", "-2.500 us"),
            (1023.0, "bytes", "0.999 KiB"),
            (999.0, "bytes", "999 B"),
            (1536.0, "bytes", "1.500 KiB"),
            (17.0, "", "17"),
            (0.25, "", "0.25"),
        ] {
            assert_eq!(quantity(value, unit), text, "{value} {unit}");
        }
    }

    #[test]
    fn sentences_have_classes_without_packages() {
        for (name, expected) in [
            ("com.acme.Orders$OrderService.list(I)V", "OrderService.list"),
            ("com.acme.Orders$1.call()V", "Orders$1.call"),
            ("Main.main([Ljava/lang/String;)V", "Main.main"),
            ("SQL select a.b from c", "SQL select a.b from c"),
            ("(class loading)", "(class loading)"),
        ] {
            assert_eq!(in_brief(name), expected);
        }
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(shortened("abcdef", Some(6)), "abcdef");
        assert_eq!(shortened("abcdefghij", Some(6)), "ab\u{2026}hij");
        assert_eq!(shortened("äöüßäöüß", Some(5)), "ä\u{2026}öüß");
        assert_eq!(shortened("abcdef", None), "abcdef");
        let name = "com.acme.shop.Shop$Item.price(String, int)";
        for (width, expected) in [
            (42, name),
            (41, "c.acme.shop.Shop$Item.price(String, int)"),
            (37, "c.a.shop.Shop$Item.price(String, int)"),
            (34, "c.a.s.Shop$Item.price(String, int)"),
            (33, "c.a.s.Shop$Item.price(\u{2026})"),
            (23, "Shop$Item.price(\u{2026})"),
            (16, "Shop$I\u{2026}.price(\u{2026})"),
        ] {
            assert_eq!(shortened(name, Some(width)), expected, "{width}");
        }
        assert_eq!(shortened("call a.bcd.E.f(int) [bridge]", Some(26)), "call a.b.E.f(int) [bridge]");
        assert_eq!(shortened("Main.main()", Some(8)), "Ma\u{2026}ain()");
        let path = "p.A.f(int) > p.q.B.g(long)";
        assert_eq!(shortened(path, Some(24)), "p.A.f(\u{2026}) > p.q.B.g(\u{2026})");
        let overloads = [
            "l.ToStringStyle.appendDetail(StringBuffer, String, int)",
            "l.ToStringStyle.appendDetail(StringBuffer, String, long[])",
        ];
        let told = |names: &[&str], width| told_apart(names, Some(width)).join(" ");
        assert_eq!(
            told(&overloads, 54),
            "ToStringStyle.appendDetail(StringBuffer, String, int) ToStringStyle.appendDetail(\u{2026}, long[])"
        );
        assert_eq!(
            told(&overloads, 40),
            "ToStringStyle.appendDetail(\u{2026}, int) ToStringStyle.appendDetail(\u{2026}, long[])"
        );
        assert_eq!(told(&overloads[..1], 40), "l.ToStringStyle.appendDetail(\u{2026})");
        assert_eq!(told(&["a.bc.D.e(int)", "a.bc.D.e(int)"], 12), "a.b.D.e(int) a.b.D.e(int)");
        let long = "worker of (some) group with a name";
        assert_eq!(shortened(long, Some(11)), "work\u{2026}a name");
    }
}
