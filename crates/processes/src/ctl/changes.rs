//! Answers to requests that change what is recorded, as text for people.

use instrument_analysis::report::text::quantity;
use instrument_control::answer::{Kept, Rooted, Selected, Timed};
use instrument_control::ctl::Request;
use instrument_control::latency;
use instrument_names::printable::printable;

fn time(ns: u64) -> String {
    quantity(ns as f64, "ns")
}

/// Which methods were excluded or included.
pub fn selected(request: &Request, answer: &Selected) -> String {
    let done = if matches!(request, Request::Exclude { .. }) { "excluded" } else { "recorded again" };
    let Selected { methods, classes, roots, ns } = *answer;
    let kept = match roots {
        0 => "",
        _ => "; roots stay",
    };
    let (methods, are) =
        if methods == 1 { ("1 method".into(), "is") } else { (format!("{methods} methods"), "are") };
    let classes = if classes == 1 { "1 class".into() } else { format!("{classes} classes") };
    format!("{methods} of {classes} {are} {done} from now on, which took {}{kept}", time(ns))
}

/// What is to be said if none were.
pub fn nothing_selected(request: &Request) -> &'static str {
    if matches!(request, Request::Exclude { .. }) {
        "no method that is recorded fits; what fits and is loaded later will not be recorded"
    } else {
        "no method that `exclude` has excluded fits; what was excluded from the start stays so"
    }
}

/// Which roots there are now.
pub(super) fn rooted(request: &Request, answer: &Rooted) -> String {
    let roots = printable(&answer.roots.join(", ")).into_owned();
    let now = match answer.roots.len() {
        0 => "no root is left, so nothing is recorded until one is added".to_owned(),
        1 => format!("one root from now on: {roots}"),
        n => format!("{n} roots from now on: {roots}"),
    };
    let restored = match (request, answer.restored) {
        (Request::Remove { .. }, 1) => "; 1 class has its own code again".to_owned(),
        (Request::Remove { .. }, n) => format!("; {n} classes have their own code again"),
        _ => String::new(),
    };
    let stopped = match answer.ns {
        0 => "no class had to be rewritten".to_owned(),
        ns => format!("the program stood still for {} at most", time(ns)),
    };
    format!("{now}{restored}; {stopped}")
}

/// Which regions are timed now.
pub(super) fn timed(answer: &Timed) -> String {
    let names = printable(&answer.regions.join(", ")).into_owned();
    let now = match answer.regions.len() {
        0 => "no region is timed from now on".to_owned(),
        1 => format!("1 region is timed from now on: {names}"),
        n => format!("{n} regions are timed from now on: {names}"),
    };
    let classes = match answer.classes {
        0 => "no class that is loaded had to be rewritten".to_owned(),
        n => {
            let classes = if n == 1 { "1 class was".to_owned() } else { format!("{n} classes were") };
            format!("{classes} rewritten, which took {}", time(answer.ns))
        }
    };
    format!("{now}; {classes}")
}

/// Of which methods durations are kept now.
pub(super) fn kept(answer: &Kept) -> String {
    let patterns: Vec<String> = answer.patterns.iter().map(|pattern| with_threshold(pattern)).collect();
    let patterns = printable(&patterns.join(", ")).into_owned();
    let methods = match answer.methods {
        0 => String::new(),
        1 => "1 method fits; ".to_owned(),
        n => format!("{n} methods fit; "),
    };
    let before = match answer.other_threshold {
        0 => String::new(),
        1 => "; 1 method had its durations recorded before, and has the threshold that it had".to_owned(),
        n => format!(
            "; {n} methods had their durations recorded before, and have the thresholds that they had"
        ),
    };
    format!("{methods}durations are recorded from now on of: {patterns}{before}")
}

/// What is to be said if no method fits.
pub const NONE_KEPT: &str = "no method that is recorded so far fits; what is loaded later may";

/// A pattern as the agent has it, with its threshold in words.
fn with_threshold(pattern: &str) -> String {
    match latency::Kept::list(pattern).as_deref() {
        Ok([latency::Kept { text, threshold: Some(ns), .. }]) => format!("{text} (over {})", time(*ns)),
        _ => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_from_now_on_has_its_thresholds_in_words() {
        let patterns = vec!["Shop#sell(int,long)".to_owned(), "Loop#serve:1000000ns".to_owned()];
        let of = "durations are recorded from now on of: Shop#sell(int,long), Loop#serve (over 1.000 ms)";
        let mut answer = Kept { methods: 1, other_threshold: 0, patterns };
        assert_eq!(kept(&answer), format!("1 method fits; {of}"));
        answer.other_threshold = 1;
        let before = "1 method had its durations recorded before, and has the threshold that it had";
        assert_eq!(kept(&answer), format!("1 method fits; {of}; {before}"));
        answer = Kept { methods: 0, other_threshold: 0, ..answer };
        assert_eq!(kept(&answer), of);
    }
}
