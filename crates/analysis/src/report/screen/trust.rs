//! One line on how far the figures are to be trusted; and loud, what is wrong with them.

use std::io::Write;

use super::Screen;
use crate::correction;
use crate::load::samples;
use crate::report::Error;
use crate::report::summary::Summary;
use crate::report::summary::sampler::{self, probes_percent};
use crate::report::summary::twice;
use crate::session::ProfileFile;
use crate::text::{grouped, plural, quantity};
use crate::thread_time::counts_calls;
use crate::uncertainty::Uncertainty;

/// Violations that are printed.
const VIOLATIONS: usize = 3;

pub(super) fn write(screen: &Screen<'_>, out: &mut dyn Write, summary: &Summary<'_>) -> Result<(), Error> {
    for text in wrong(screen, summary)? {
        for (i, line) in text.lines().enumerate() {
            screen.paragraph(out, if i == 0 { "WRONG" } else { "" }, line)?;
        }
    }
    screen.paragraph(out, "trust", &line(screen, summary))?;
    for account in screen.session.profiles.iter().filter_map(twice::of) {
        screen.paragraph(out, twice::title(&account), &twice::line(&account))?;
    }
    Ok(())
}

/// What is wrong with the figures, the first line of each a sentence.
pub(super) fn wrong(screen: &Screen<'_>, summary: &Summary<'_>) -> Result<Vec<String>, Error> {
    let session = screen.session;
    let balance = &summary.counts.balance;
    let mut found = Vec::new();
    for file in &session.profiles {
        let dropped = file.dropped();
        if dropped > 0 {
            let text = format!("{} events were DROPPED: figures are too small by these", grouped(dropped));
            found.push(text);
        }
        found.extend(file.past_limits());
        found.extend(sampler::not_counted(file));
        // Where times are of calls, the whole report begins with it.
        if samples::are_in(&file.profile)
            && let Some(reason) = correction::wrong_clock(&file.profile)
        {
            let text = format!("MOMENTS AND WAITS are not true: {reason}");
            found.push(text);
        }
        for thread in file.profile.threads.iter().filter(|thread| thread.stopped) {
            let text = format!("recording of thread {} STOPPED early", thread.name);
            found.push(text);
        }
        let damage = &file.profile.damage;
        if let Some(first) = damage.first() {
            let more = match damage.len() {
                1 => String::new(),
                n => format!(", and {} more", plural(n - 1, "place")),
            };
            let text = format!("{} is DAMAGED: {first}{more}", file.path.display());
            found.push(text);
        }
    }
    if !balance.holds {
        let mut violations = Vec::new();
        balance.violations(&mut violations)?;
        let violations = String::from_utf8_lossy(&violations);
        let lines = violations.lines().take(VIOLATIONS).map(|line| format!("\n{}", line.trim()));
        found.push(balance.line() + &lines.collect::<String>());
    }
    let violated = &summary.checked.violations;
    if !violated.is_empty() {
        found.push(summary.checked.line());
    }
    Ok(found)
}

/// `calls exact; times +- 2 %; probes took 44 % of the CPU`
pub(super) fn line(screen: &Screen<'_>, summary: &Summary<'_>) -> String {
    let is_whole = |file: &ProfileFile| {
        let stopped = file.profile.threads.iter().any(|thread| thread.stopped);
        file.dropped() == 0 && file.profile.damage.is_empty() && !stopped
    };
    let holds = summary.counts.balance.holds && summary.checked.violations.is_empty();
    let are_exact = holds && screen.session.profiles.iter().all(is_whole);
    let is_counted = counts_calls(screen.model);
    let calls = match (is_counted, are_exact) {
        (false, true) => "calls not counted: stacks were sampled",
        (true, true) => "calls exact",
        (_, false) => "calls are NOT all there",
    };
    let mut parts = vec![calls.to_owned()];
    let total = screen.arcs.total();
    if let Some(r) = screen.resource() {
        let error = Uncertainty::of(screen.model, r).cum(total);
        let percent =
            error.map(|error| 100.0 * error.total() / total[r]).filter(|percent| percent.is_finite());
        let what = if screen.are_times() { "times" } else { "figures" };
        parts.push(match percent {
            _ if screen.model.correction.line().is_some() => {
                "times as measured, with the cost of recording".to_owned()
            }
            Some(percent) if percent >= 99.5 => format!("{what} too small to be known"),
            Some(percent) => format!("{what} in all +- {percent:.0} %"),
            None => "times as measured".to_owned(),
        });
    }
    let is_of_two = screen.session.profiles.iter().any(|file| twice::of(file).is_some());
    if is_of_two {
        // The line on the two runs says it.
    } else if let Some(percent) = probes_percent(screen.model).filter(|_| is_counted) {
        parts.push(format!("probes took {percent:.0} % of the CPU"));
    } else if screen.session.overhead > 0.0 {
        parts.push(format!("recording took {}", quantity(screen.session.overhead.round(), "ns")));
    }
    parts.join("; ")
}
