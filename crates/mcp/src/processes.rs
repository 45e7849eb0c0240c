//! What the tools ask of several processes, and of runs of two sides.

use std::path::PathBuf;

use anyhow::Result;
use instrument_analysis::Arcflow;
use instrument_analysis::merge::Processes;
use instrument_analysis::merge::view::roots;
use instrument_analysis::report::{Format, Options, diff, remote};
use instrument_analysis::session::lookup::method_names;
use instrument_analysis::session::{Error, Methods, Request, Session};
use serde_json::Value;

use crate::answer::{Asked, Report};
use crate::question::{Question, WIDTH, Words, check, number, operands, resource, rows};
use instrument_analysis::report::diff::{check_comparable, run_of};
use instrument_analysis::report::print::{Print, correction_line};
use instrument_messages::usage;

/// What changed between the runs of two sides.
pub(crate) fn difference(question: &Question<'_>) -> Result<Value> {
    let sides = sides(question)?;
    let mut notes = Vec::new();
    let mut read = |path: &PathBuf| -> Result<Arcflow> {
        let session = Session::read(&run_of(path.clone()))?;
        notes.extend(session.messages.into_iter().map(|message| message.text));
        Ok(session.model)
    };
    let before = sides[0].iter().map(&mut read).collect::<Result<Vec<_>>>()?;
    let after = sides[1].iter().map(&mut read).collect::<Result<Vec<_>>>()?;
    let runs = || before.iter().chain(&after);
    check_comparable(runs())?;
    let patterns: Vec<_> = question.given.text("method").map(str::to_owned).into_iter().collect();
    let methods = Methods::new("method", &patterns, &runs().flat_map(method_names).collect())?;
    check(&methods, &mut notes)?;
    // Calls are what all runs have, and no resource of a model.
    let resource = match question.given.text("resource") {
        Some("calls") => vec!["calls".to_owned()],
        Some(_) => resource(&question.given, &before[0])?,
        None => {
            let usual = resource(&question.given, &before[0])?;
            let is_common = |name: &String| runs().all(|run| run.resource(name).is_some());
            usual.into_iter().filter(is_common).collect()
        }
    };
    let print =
        Print { resource, sort: question.sort(), method: patterns, width: Some(WIDTH), ..Print::default() };
    let words = Words::new("diff").print(&print);
    let command = |rows: usize| {
        let [before, after] = &sides;
        let mut words = words.with(rows, before);
        if before.len() + after.len() > 2 {
            words.push("--".to_owned());
        }
        words.extend(operands(after));
        words
    };
    let left_out = |report: &Value| {
        let of = |what: &str| {
            let all = number(&report[format!("{what}_changed")])
                + number(&report[format!("{what}_not_told_apart")]);
            all.saturating_sub(rows(&report[what]))
        };
        of("methods") + of("contexts")
    };
    let asked = Asked { rows: question.rows(), command: &command, notes, unneeded: &[], left_out };
    let mut lines: Vec<_> = runs().filter_map(|run| correction_line(run, &[])).collect();
    lines.dedup();
    let print = |format: Format, rows: usize| Print { top: Some(rows), format, ..print.clone() };
    let text = |out: &mut Vec<u8>, rows: usize| {
        lines.iter().for_each(|line| out.extend(format!("{line}\n\n").into_bytes()));
        let write = |options: &Options<'_>| diff::write(out, &before, &after, options);
        Ok(print(Format::Text, rows).with(None, &methods, false, write).map(drop)?)
    };
    let document = |rows: usize| {
        let document = |options: &Options<'_>| diff::document(&before, &after, options);
        Ok(print(Format::Json, rows).with(None, &methods, false, document)?)
    };
    question.room.answer(&asked, &Report { text: &text, document: &document })
}

/// The files before and after: those that are named, or the only two that there are.
fn sides(question: &Question<'_>) -> Result<[Vec<PathBuf>; 2]> {
    let [before, after] = ["before", "after"].map(|side| question.given.texts(side));
    match (&before[..], &after[..], question.files.all()) {
        ([], [], [one, other]) => Ok([vec![one.clone()], vec![other.clone()]]),
        ([], [], all) => {
            let (count, list) = (all.len(), question.files.list());
            Err(usage(format!(
                "`before` and `after` are needed, for there are not two files but {count}: {list}"
            )))
        }
        ([], _, _) => Err(usage("`before` is missing: the files of the side that `after` is compared with")),
        (_, [], _) => Err(usage("`after` is missing: the files of the side that is compared with `before`")),
        _ => Ok([question.files.named(&before)?, question.files.named(&after)?]),
    }
}

/// Remote calls: by client, server and method, or single ones.
pub(crate) fn remote_calls(question: &Question<'_>) -> Result<Value> {
    let files = question.files()?;
    let request = Request { files: files.clone(), ..Request::default() };
    let processes = Processes::open(&request).map_err(|error| match error {
        Error::NoneReadable(messages) => {
            let texts: Vec<_> = messages.iter().map(|message| message.text.as_str()).collect();
            usage(texts.join("; "))
        }
        error => error.into(),
    })?;
    let clock = roots(&processes.numbers).first().copied();
    let is_single = question.given.text("by") == Some("call");
    let report = if is_single { "calls" } else { "services" };
    let words = Words::new("merge").one("--report", report);
    let left_out = |report: &Value| {
        let within = report["rows"].as_array().into_iter().flatten().map(|row| number(&row["left_out"]));
        let within: u64 = within.sum();
        let all = number(&report["all"]).max(number(&report["outermost"]));
        all.saturating_sub(rows(&report["rows"])) + within
    };
    let asked = Asked {
        rows: question.rows(),
        command: &|rows| words.with(rows, &files),
        notes: processes.messages.iter().map(|message| message.text.clone()).collect(),
        unneeded: &[],
        left_out,
    };
    let text = |out: &mut Vec<u8>, rows: usize| {
        let print = Print { width: Some(WIDTH), top: Some(rows), ..Print::default() };
        print.with(None, &Methods::default(), false, |options| {
            let calls = processes.calls().remote(clock, false, remote::bounds(options))?;
            let write = if is_single { remote::write_calls } else { remote::write_services };
            Ok(write(out, &calls, options)?)
        })
    };
    let document = |rows: usize| {
        let options = Options { format: Format::Json, top: Some(rows), ..Options::default() };
        let calls = processes.calls().remote(clock, false, remote::bounds(&options))?;
        Ok(if is_single { remote::waterfalls(&calls) } else { remote::services(&calls, rows) })
    };
    question.room.answer(&asked, &Report { text: &text, document: &document })
}
