//! What the reports say of a profile whose times come from another run than its counts.

use std::io::Write;

use super::fact;
use crate::report::Error;
use crate::session::{ProfileFile, Session};
use crate::text::{grouped, quantity};
use crate::twice::Account;

/// How the two runs of a profile compare; none: it is of one run.
pub(crate) fn of(file: &ProfileFile) -> Option<Account> {
    Account::read(&file.profile)
}

/// Whose figures these are, and what recording took.
pub(crate) fn line(account: &Account) -> String {
    let mut text =
        "calls are of a recorded run, times of another one in which nothing was rewritten".to_owned();
    if let Some(parts) = account.percent() {
        text += &format!("; {}", taken(parts));
    }
    if !account.is_alike() {
        let [bare, outside] = [account.bare_ns, account.outside_ns].map(|ns| quantity(ns as f64, "ns"));
        text += &format!(
            "; outside of probes the recorded run took {outside}, and the other one {bare}: times are not divided by calls"
        );
    }
    text
}

/// What recording took of the recorded run: in probes, and in the program beside what it takes without them.
fn taken([probes, hindered]: [f64; 2]) -> String {
    let probes = format!("of the recorded run's CPU time probes took {probes:.0} %");
    // Two runs of the same program differ by some percent.
    if hindered >= 0.5 {
        format!("{probes}, and what they hinder {hindered:.0} %")
    } else {
        format!("{probes}, and the program beside them no more than in the other run")
    }
}

/// Prints whose figures these are, and which contexts only one of the runs had.
pub(super) fn write(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
    let Some(account) = of(file) else { return Ok(()) };
    fact(out, "two runs", &line(&account))?;
    let [both, times, counts] = account.contexts.map(grouped);
    let text = format!(
        "contexts: {both} in both, {times} only in the run with the times, {counts} only in the recorded one"
    );
    fact(out, "", &text)
}

/// The same for programs.
pub(super) fn documents(session: &Session) -> Vec<serde_json::Value> {
    let document = |account: Account| {
        let [both, times, counts] = account.contexts;
        serde_json::json!({
            "bare_ns": account.bare_ns,
            "outside_ns": account.outside_ns,
            "probes_ns": account.probes_ns,
            "contexts": {"both": both, "only_times": times, "only_counts": counts},
        })
    };
    session.profiles.iter().filter_map(of).map(document).collect()
}
