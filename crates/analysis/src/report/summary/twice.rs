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

/// What stands before [`line`].
pub(crate) fn title(account: &Account) -> &'static str {
    if account.are_parts { "in turn" } else { "two runs" }
}

/// Whose figures these are, and what recording took.
pub(crate) fn line(account: &Account) -> String {
    let mut text = match account.are_parts {
        false => "calls are of a recorded run, times of another one in which nothing was rewritten",
        true => "calls are of the part of the run that was recorded, times of the part after it, in which nothing was rewritten",
    }
    .to_owned();
    let runs = Names::of(account);
    if let Some(parts) = account.percent() {
        text += &format!("; {}", runs.taken(parts));
    }
    if !account.is_alike() {
        let Names { recorded, other } = runs;
        let [bare, outside] = [account.bare_ns, account.outside_ns].map(|ns| quantity(ns as f64, "ns"));
        text += &format!(
            "; outside of probes the {recorded} took {outside}, and the {other} {bare}: times are not divided by calls"
        );
    }
    text
}

/// What the two runs are called.
struct Names {
    recorded: &'static str,
    other: &'static str,
}

impl Names {
    fn of(account: &Account) -> Names {
        match account.are_parts {
            false => Names { recorded: "recorded run", other: "other one" },
            true => Names { recorded: "recorded part", other: "other one" },
        }
    }

    /// What recording took of the recorded run: in probes, and in the program beside what it takes without them.
    fn taken(&self, [probes, hindered]: [f64; 2]) -> String {
        let Names { recorded, other } = self;
        let probes = format!("of the {recorded}'s CPU time probes took {probes:.0} %");
        // Two runs of the same program differ by some percent.
        if hindered >= 0.5 {
            format!("{probes}, and what they hinder {hindered:.0} %")
        } else {
            format!("{probes}, and the program beside them no more than in the {other}")
        }
    }
}

/// Prints whose figures these are, and which contexts only one of the runs had.
pub(super) fn write(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
    let Some(account) = of(file) else { return Ok(()) };
    fact(out, title(&account), &line(&account))?;
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
            "parts_of_one_run": account.are_parts,
            "contexts": {"both": both, "only_times": times, "only_counts": counts},
        })
    };
    session.profiles.iter().filter_map(of).map(document).collect()
}
