//! JSON and CSV: what all reports write alike.

use instrument_names::printable::printable;
use serde_json::{Number, Value, json};

use crate::model::Arcflow;
use crate::uncertainty::{Error, Uncertainty};

/// A figure: whole numbers without a point.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        Value::Number(Number::from(value as i64))
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

/// Those of the figures that are shown.
pub(crate) fn list(figures: &[f64], shown: &[usize]) -> Value {
    shown.iter().map(|&r| number(figures[r])).collect()
}

/// The source file and first line of a method, as members of an object, if they are known.
pub(crate) fn origin(model: &Arcflow, name: &str, row: Option<&mut serde_json::Map<String, Value>>) {
    let (Some((file, line)), Some(row)) = (model.origins.path(name), row) else { return };
    row.insert("file".into(), json!(file));
    if line > 0 {
        row.insert("line".into(), json!(line));
    }
}

/// The figures of rows, as members of objects.
pub(crate) struct Members {
    shown: Vec<usize>,
    uncertain: Vec<Uncertainty>,
}

impl Members {
    /// Of the resources `shown`.
    pub(crate) fn new(model: &Arcflow, shown: &[usize]) -> Members {
        Members {
            shown: shown.to_vec(),
            uncertain: shown.iter().map(|&r| Uncertainty::of(model, r)).collect(),
        }
    }

    /// Base and cum of a row, with their uncertainties.
    pub(crate) fn put(&self, base: &[f64], cum: &[f64], row: &mut serde_json::Map<String, Value>) {
        members(&self.shown, &self.uncertain, base, cum, row);
    }
}

fn members(
    shown: &[usize],
    uncertain: &[Uncertainty],
    base: &[f64],
    cum: &[f64],
    row: &mut serde_json::Map<String, Value>,
) {
    row.insert("base".into(), list(base, shown));
    row.insert("cum".into(), list(cum, shown));
    let errors = |of: &dyn Fn(&Uncertainty) -> Option<f64>| {
        let errors: Vec<_> = uncertain.iter().map(of).collect();
        let known = errors.iter().any(Option::is_some);
        known.then(|| errors.into_iter().map(|e| e.map_or(Value::Null, |e| number(e.round()))).collect())
    };
    if let Some(errors) = errors(&|u| u.base(base).map(|e| e.total())) {
        row.insert("base_error".into(), errors);
    }
    if let Some(errors) = errors(&|u| u.cum(cum).map(|e| e.total())) {
        row.insert("cum_error".into(), errors);
    }
    // Of what no sample met: what it is less than.
    if let Some(bounds) = errors(&|u| u.bound(base)) {
        row.insert("base_below".into(), bounds);
    }
    if let Some(bounds) = errors(&|u| u.bound(cum)) {
        row.insert("cum_below".into(), bounds);
    }
    // What text marks with `~`.
    let hidden = |of: &dyn Fn(&Uncertainty) -> Option<Error>, figures: &[f64]| {
        let hidden = |(u, &r): (&Uncertainty, &usize)| of(u).is_some_and(|error| error.hides(figures[r]));
        let hidden: Vec<bool> = uncertain.iter().zip(shown).map(hidden).collect();
        hidden.contains(&true).then_some(hidden)
    };
    if let Some(hidden) = hidden(&|u| u.base(base), base) {
        row.insert("base_hidden".into(), hidden.into());
    }
    if let Some(hidden) = hidden(&|u| u.cum(cum), cum) {
        row.insert("cum_hidden".into(), hidden.into());
    }
}

/// The header of the columns of figures.
pub(crate) fn csv_header(model: &Arcflow, shown: &[usize]) -> String {
    let columns = shown.iter().map(|&r| {
        let name = field(&model.resources()[r].name).replace(' ', "_");
        format!(",{name}_base,{name}_cum")
    });
    columns.collect()
}

/// The columns of figures.
pub(crate) fn csv_figures(shown: &[usize], base: &[f64], cum: &[f64]) -> String {
    shown.iter().map(|&r| format!(",{},{}", number(base[r]), number(cum[r]))).collect()
}

/// A field of a CSV table (RFC 4180), safe for a terminal. What a spreadsheet would take for a formula begins with `'`, which makes it text:
/// names may come from whoever sends requests to the program.
pub fn field(text: &str) -> String {
    let text = printable(text);
    let mark = if is_formula(text.as_bytes()) { "'" } else { "" };
    if text.contains([',', '"']) {
        format!("\"{mark}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{mark}{text}")
    }
}

/// Whether a spreadsheet takes a text for a formula. A number is none.
pub fn is_formula(text: &[u8]) -> bool {
    let is_number = || std::str::from_utf8(text).is_ok_and(|text| text.trim_end().parse::<f64>().is_ok());
    matches!(text, [b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r', _, ..]) && !is_number()
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn no_field_is_a_formula() {
        for (text, expected) in [
            ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""),
            ("=1+1", "'=1+1"),
            ("+1-x", "'+1-x"),
            ("-x,y", "\"'-x,y\""),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1+1", "\\u0009=1+1"),
            ("-5", "-5"),
            ("a=1", "a=1"),
            ("-", "-"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected, "{text:?}");
        }
    }
}
