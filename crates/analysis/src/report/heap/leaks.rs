//! Leak suspects, each with the reason why.

use std::io::{self, Write};

use instrument_names::printable::printable;
use serde_json::{Value, json};

use super::label;
use crate::heap::leaks::{Found, Held, HeldBy, Suspect};
use crate::heap::table::Row;
use crate::report::machine::field;
use crate::report::{Error, Options};
use crate::text::{quantity, shortened};

pub(super) fn text(
    out: &mut dyn Write,
    found: Option<&Found>,
    top: Option<usize>,
    width: Option<usize>,
) -> io::Result<()> {
    let Some(found) = found else { return writeln!(out, "leaks were not looked for") };
    let total = found.leaks();
    let classes = match found.suspects.len() {
        1 => String::new(),
        suspects => format!(": objects of {suspects} kinds"),
    };
    match total {
        0 if found.is_undetermined() => writeln!(out, "leaks: cannot tell")?,
        0 => writeln!(out, "no leak suspects")?,
        1 => writeln!(out, "1 leak suspect{classes}")?,
        _ => writeln!(out, "{total} leak suspects{classes}")?,
    }
    for reason in &found.undetermined {
        writeln!(out, "note: {reason}")?;
    }
    let mut leak = 0;
    for suspect in found.suspects.iter().filter(|suspect| suspect.leak <= top.unwrap_or(usize::MAX)) {
        if total < found.suspects.len() && leak != suspect.leak {
            leak = suspect.leak;
            let parts = || found.suspects.iter().filter(|part| part.leak == leak);
            let bytes: u64 = parts().map(Suspect::growth).sum();
            writeln!(
                out,
                "leak {leak}: +{} in {} kinds of objects",
                quantity(bytes as f64, "bytes"),
                parts().count()
            )?;
        }
        let row = Row { class: suspect.class.clone(), methods: suspect.context.clone() };
        let growth = format!("+{}", quantity(suspect.growth() as f64, "bytes"));
        let room = width.map(|width| width.saturating_sub(13).max(16));
        writeln!(out, "{growth:>11}  {}", shortened(&label(&row), room))?;
        writeln!(out, "{:13}{}", "", suspect.why())?;
        for holder in &suspect.holders {
            writeln!(out, "{:13}{}", "", held(holder))?;
        }
    }
    let left = total.saturating_sub(top.unwrap_or(usize::MAX));
    if left > 0 {
        writeln!(out, "not shown: {left}")?;
    }
    for remark in &found.remarks {
        writeln!(out, "note: {remark}")?;
    }
    Ok(())
}

/// What holds objects, and how many of the sample.
fn held(held: &Held) -> String {
    let by = match &held.by {
        HeldBy::Path(steps) => format!("held by {}", printable(&steps.join(" -> "))),
        HeldBy::Others => "held in other ways".to_owned(),
        HeldBy::Nothing => "held by nothing (garbage that was not collected yet)".to_owned(),
        HeldBy::Unknown => "holder not found".to_owned(),
    };
    format!("{by}: {} of {} sampled objects", held.objects, held.sampled)
}

pub(super) fn json(found: Option<&Found>, options: &Options<'_>) -> Value {
    let Some(found) = found else { return Value::Null };
    let suspects = found.suspects.iter().take(options.top.unwrap_or(usize::MAX));
    let suspects = suspects.map(|s| {
        json!({
            "leak": s.leak,
            "class": s.class,
            "methods": s.context,
            "growth_bytes": s.growth(),
            "before": {"objects": s.before.0, "bytes": s.before.1},
            "after": {"objects": s.after.0, "bytes": s.after.1},
            "made": s.made,
            "kept": s.kept,
            "collections": s.collections,
            "windows": s.windows,
            "grew": s.grew,
            "ns": s.ns,
            "why": s.why(),
            "holders": s.holders.iter().map(holder).collect::<Vec<_>>(),
        })
    });
    let verdict = match (found.suspects.is_empty(), found.is_undetermined()) {
        (false, _) => "suspects",
        (true, false) => "none",
        (true, true) => "undetermined",
    };
    json!({"verdict": verdict, "leaks": found.leaks(), "suspects": suspects.collect::<Vec<_>>(), "remarks": found.remarks,
        "undetermined": found.undetermined})
}

fn holder(held: &Held) -> Value {
    let (kind, path) = match &held.by {
        HeldBy::Path(steps) => ("path", json!(steps)),
        HeldBy::Others => ("others", Value::Null),
        HeldBy::Nothing => ("nothing", Value::Null),
        HeldBy::Unknown => ("unknown", Value::Null),
    };
    json!({"kind": kind, "path": path, "objects": held.objects, "sampled": held.sampled})
}

pub(super) fn csv(out: &mut dyn Write, found: Option<&Found>, options: &Options<'_>) -> Result<(), Error> {
    writeln!(
        out,
        "class,context,growth_bytes,objects_before,bytes_before,objects_after,bytes_after,made,kept,collections,why,leak,held_by"
    )?;
    let suspects = found.into_iter().flat_map(|found| &found.suspects);
    for s in suspects.take(options.top.unwrap_or(usize::MAX)) {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{}",
            field(&s.class),
            field(&s.context.join(" < ")),
            s.growth(),
            s.before.0,
            s.before.1,
            s.after.0,
            s.after.1,
            s.made,
            s.kept,
            s.collections,
            field(&s.why()),
            s.leak,
            field(&s.holders.first().map_or_else(String::new, held))
        )?;
    }
    Ok(())
}
