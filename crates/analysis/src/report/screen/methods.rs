//! The program's own methods: each with its time and that of the libraries that it calls, down to the next of the program's own.

use std::io::Write;

use super::{Screen, share};
use crate::arcs::FunctionId;
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind};
use crate::report::aligned::Aligned;
use crate::report::columns::marked;
use crate::report::{Error, Options};
use crate::text::{below, grouped, percent, quantity};
use crate::thread_time::{ThreadTime, counts_calls};
use crate::uncertainty::Uncertainty;

/// Figures by method.
pub(super) type Charges = HashMap<FunctionId, Vec<f64>>;

/// What each of the program's own methods consumed with the libraries that it called.
pub(super) fn charged(screen: &Screen<'_>) -> Charges {
    let model = screen.model;
    let mut charges: Charges = HashMap::default();
    for (id, nearest) in model.ids().zip(&screen.nearest) {
        if let Some(own) = nearest {
            let width = model.resources().len();
            let sum = charges.entry(screen.arcs.of(*own)).or_insert_with(|| vec![0.0; width]);
            sum.iter_mut().zip(model.base(id)).for_each(|(sum, value)| *sum += value);
        }
    }
    charges
}

/// They and their figures, what took longest first.
pub(super) fn sorted<'a>(screen: &Screen<'_>, charges: &'a Charges) -> Vec<(FunctionId, &'a Vec<f64>)> {
    let (arcs, resource) = (screen.arcs, screen.resource());
    let mut rows: Vec<(FunctionId, &Vec<f64>)> = charges.iter().map(|(id, sum)| (*id, sum)).collect();
    let name = |id: FunctionId| screen.model.name(arcs.function(id).consumer);
    let time = |figures: &[f64]| resource.map_or(0.0, |r| figures[r]);
    rows.sort_by(|a, b| {
        let by_time = time(b.1).total_cmp(&time(a.1));
        let by_cum = || time(arcs.self_cum(b.0)).total_cmp(&time(arcs.self_cum(a.0)));
        let by_calls = || arcs.function(b.0).calls.cmp(&arcs.function(a.0).calls);
        by_time.then_with(by_cum).then_with(by_calls).then_with(|| name(a.0).cmp(name(b.0)))
    });
    rows
}

pub(super) fn write(
    screen: &Screen<'_>,
    out: &mut dyn Write,
    top: usize,
    options: &Options<'_>,
) -> Result<(), Error> {
    let (model, arcs) = (screen.model, screen.arcs);
    let charges = charged(screen);
    let resource = screen.resource();
    let name = |id: FunctionId| model.name(arcs.function(id).consumer);
    let time = |figures: &[f64]| resource.map_or(0.0, |r| figures[r]);
    let rows = sorted(screen, &charges);
    screen.paragraph(out, "own code", &heading(screen, &charges))?;
    let waiting = ThreadTime::of(model).map(|time| time.waiting).filter(|&r| arcs.total()[r] > 0.0);
    let (is_counted, is_alike) = (counts_calls(model), !model.has_other_times);
    let mut headers = vec!["calls"];
    headers.extend(resource.map_or(&[][..], |_| &["self", "self %"][..]));
    headers.extend(waiting.map(|_| "waiting"));
    headers.extend(resource.map_or(&[][..], |_| &["total", "per call"][..]));
    let mut table = Aligned::new(headers.into_iter().map(str::to_owned).collect(), consumers(model).0);
    for (id, sum) in rows.iter().take(top) {
        let calls = arcs.function(*id).calls;
        let mut cells = vec![if is_counted { grouped(calls) } else { "-".into() }];
        if let Some(r) = resource {
            let unit = &model.resources()[r].unit;
            let uncertain = Uncertainty::of(model, r);
            let figure = |figures: &[f64], more: f64, error| match uncertain.bound(figures) {
                Some(bound) if more == 0.0 => below(bound, unit),
                _ => marked(figures[r] + more, unit, error),
            };
            cells.push(figure(sum, 0.0, uncertain.base(sum)));
            cells.push(if sum[r] > 0.0 { percent(sum[r], arcs.total()[r]) } else { "-".into() });
            cells.extend(waiting.map(|w| quantity(sum[w], unit)));
            let cum = arcs.self_cum(*id);
            let waited = waiting.map_or(0.0, |w| cum[w]);
            cells.push(figure(cum, waited, uncertain.cum(cum)));
            let whole = cum[r] + waited;
            cells.push(if calls > 0 && whole > 0.0 && is_alike {
                quantity(whole / calls as f64, unit)
            } else {
                "-".into()
            });
        }
        table.row(cells, name(*id));
    }
    table.print_as(out, &Options { width: screen.width, ..*options })?;
    if rows.len() > top {
        let left: f64 = rows[top..].iter().map(|(_, sum)| time(sum)).sum();
        let of = resource.map(|r| format!(", {} of the time", share(left, arcs.total()[r])));
        writeln!(out, "{} more{}", counted(model, rows.len() - top), of.unwrap_or_default())?;
    }
    Ok(())
}

/// What a row is: one, and several.
fn consumers(model: &Arcflow) -> (&'static str, &'static str) {
    match &*model.consumers {
        "classes" => ("class", "classes"),
        "packages" => ("package", "packages"),
        _ => ("method", "methods"),
    }
}

fn counted(model: &Arcflow, count: usize) -> String {
    let (one, several) = consumers(model);
    format!("{} {}", grouped(count as u64), if count == 1 { one } else { several })
}

/// What is own, how that is known, and how much of the time is outside of it.
pub(super) fn heading(screen: &Screen<'_>, charges: &Charges) -> String {
    let (model, arcs, own) = (screen.model, screen.arcs, screen.own);
    let recorded = arcs.functions().iter().filter(|function| function.kind == Kind::Method).count();
    let mut text =
        format!("{}, {} of {}", own.describe(), grouped(charges.len() as u64), counted(model, recorded));
    if let Some(r) = screen.resource() {
        let total = arcs.total()[r];
        let mut own: Vec<f64> = charges.values().map(|sum| sum[r]).collect();
        // In one order, so that the sum is the same each time.
        own.sort_by(f64::total_cmp);
        let of_own: f64 = own.into_iter().sum();
        let outside = total - of_own;
        if total > 0.0 && outside > 0.005 * total {
            text += &format!("; {} of {} is outside of it", share(outside, total), model.resources()[r].name);
        }
    }
    text
}
