//! The longest calls as JSON, and their contexts as CSV. Times are in ns, names as in profiles.

use std::io::Write;

use serde_json::{Value, json};

use super::super::{Error, machine};
use super::beside::{Average, Beside, Difference, differences};
use crate::latency::{Bad, Context, Own, Worst};

/// Writes one document. `trees`: of so many calls of a method what they did.
pub(super) fn write<'a>(
    out: &mut dyn Write,
    worst: impl Iterator<Item = &'a Worst>,
    trees: usize,
) -> Result<(), Error> {
    write!(out, "{{\"report\":\"latency-worst\",\"unit\":\"ns\",\"methods\":[")?;
    for (i, of) in worst.enumerate() {
        write!(out, "{}\n{}", if i > 0 { "," } else { "" }, method(of, trees))?;
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}

fn method(of: &Worst, trees: usize) -> Value {
    let beside = Beside::new(of);
    let (ended, ns) = of.rest_ended;
    let typical = of.typical.as_ref().map(|typical| {
        let (from, to) = typical.range;
        json!({"calls": typical.did.calls(), "ns": typical.ns, "from": from, "to": to, "drawn": typical.drawn})
    });
    let calls = of.calls.iter().enumerate().map(|(i, bad)| {
        let mut call = json!({
            "ns": bad.ns,
            "end": bad.end,
            "error": bad.has_failed,
            "is_part": bad.is_part,
            "thread": bad.thread,
        });
        if i < trees {
            call["contexts"] = contexts(bad, &beside);
        }
        call
    });
    json!({
        "function": of.method,
        "longest": of.longest,
        "is_exact": of.is_exact,
        "beside": beside.word(),
        "running_beside": beside.word_of_running(),
        "beside_ns": machine::number(beside.mean),
        "typical": typical,
        "others": {"calls": of.rest.calls(), "ended": ended, "ns": ns},
        "differences": differences(of, &beside).iter().map(difference).collect::<Value>(),
        "calls": calls.collect::<Value>(),
    })
}

fn difference(row: &Difference<'_>) -> Value {
    let (function, caller) = row.part.map_or((None, None), |(name, caller)| (Some(name), caller));
    json!({
        "verb": row.verb,
        "function": function,
        "caller": caller,
        "ns": machine::number(row.here),
        "beside_ns": machine::number(row.others),
        "calls": row.calls.map(|(here, _)| machine::number(here)),
        "beside_calls": row.calls.map(|(_, others)| machine::number(others)),
    })
}

/// A context of a call, with what it called, and what it is beside.
fn rows<'a>(bad: &'a Bad, beside: &Beside<'_>) -> impl Iterator<Item = (usize, &'a Context, Own, Average)> {
    let figures = bad.did.cum().into_iter().zip(beside.contexts(bad));
    let rows = bad.did.contexts().iter().zip(figures).enumerate();
    rows.map(|(index, (context, (cum, average)))| (index, context, cum, average))
}

fn contexts(bad: &Bad, beside: &Beside<'_>) -> Value {
    let context = |(index, context, cum, average): (usize, &Context, Own, Average)| {
        json!({
            "function": context.name,
            "caller": (index > 0).then_some(context.caller),
            "calls": context.calls,
            "returned": context.returned,
            "samples": context.samples,
            "waiting": machine::number(cum.waiting),
            "running": machine::number(cum.running),
            "beside_calls": machine::number(average.calls),
            "beside_waiting": machine::number(average.waiting),
            "beside_running": machine::number(average.running),
        })
    };
    rows(bad, beside).map(context).collect()
}

/// Writes a table of the contexts of so many calls of each method, callers first.
pub(super) fn table<'a>(
    out: &mut dyn Write,
    worst: impl Iterator<Item = &'a Worst>,
    trees: usize,
) -> Result<(), Error> {
    writeln!(
        out,
        "method,call,ns,end,error,is_part,thread,context,caller,function,calls,returned,samples,waiting,running,beside,running_beside,beside_calls,beside_waiting,beside_running"
    )?;
    for of in worst {
        let beside = Beside::new(of);
        for (number, bad) in of.calls.iter().enumerate().take(trees) {
            let Bad { ns, end, has_failed, is_part, .. } = bad;
            let (method, thread) = (machine::field(&of.method), machine::field(&bad.thread));
            for (index, context, cum, average) in rows(bad, &beside) {
                let caller = if index > 0 { context.caller.to_string() } else { String::new() };
                let name = machine::field(&context.name);
                write!(
                    out,
                    "{method},{number},{ns},{end},{has_failed},{is_part},{thread},{index},{caller},{name}"
                )?;
                write!(out, ",{},{},{}", context.calls, context.returned, context.samples)?;
                let figures = [average.calls, average.waiting, average.running].map(machine::number);
                let [calls, waiting, running] = figures;
                let (own_waiting, own_running) = (machine::number(cum.waiting), machine::number(cum.running));
                write!(out, ",{own_waiting},{own_running}")?;
                let words = (beside.word(), beside.word_of_running());
                writeln!(out, ",{},{},{calls},{waiting},{running}", words.0, words.1)?;
            }
        }
    }
    Ok(())
}
