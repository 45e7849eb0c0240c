//! Performance tests that do not flake: baselines and budgets over exact figures.
//!
//! | module | |
//! |---|---|
//! | [`figure`] | which figures are exact, and their values in several runs |
//! | [`run`] | one run: its contexts with their figures |
//! | [`conditions`] | under which conditions a run was recorded, and why it cannot be judged |
//! | [`open`] | a run from its profile |
//! | [`baseline`] | what several runs of one build have in common, and what moves among them |
//! | `joined`, `search` | several runs as one, and one beside a baseline, context by context |
//! | `ordering` | how many comparisons more the order of a table or of a sort explains |
//! | `values` | which texts of statements, addresses and files are judged although they are new |
//! | [`unsettled`] | which contexts are not judged, since what they depend on moves |
//! | [`reason`], `explain` | why a figure moves, as far as that can be known |
//! | [`file`] | the text of a baseline |
//! | [`budget`] | limits that people write |
//! | [`check`] | runs against a baseline and budgets: what grew, where |
//! | [`whole`] | whether a profile has all that was to be recorded |
//! | [`outcome`] | what a check came to: findings, and what is worth a line |
//! | [`growth`] | what the number of calls grows with |
//! | [`print`] | the outcome as text, Markdown, JSON and JUnit XML |
//! | [`sarif`] | the same as SARIF, with lines of sources |
//!
//! A time is never judged here. What is judged must be recorded completely: runs that lack something are refused
//! ([`conditions::Refusal`]).

pub mod baseline;
pub mod budget;
pub mod check;
pub mod conditions;
mod explain;
pub mod figure;
pub mod file;
pub mod growth;
mod joined;
pub mod open;
mod ordering;
pub mod outcome;
pub mod print;
pub mod reason;
pub mod run;
#[cfg(test)]
mod samples;
pub mod sarif;
mod search;
pub mod unsettled;
mod values;
pub mod whole;

pub use baseline::Baseline;
pub use check::check;
pub use outcome::Outcome;
pub use run::Run;
