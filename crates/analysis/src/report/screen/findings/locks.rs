//! The lock that threads waited for longest.

use super::Finding;
use crate::hash::HashMap;
use crate::model::Kind;
use crate::report::screen::Screen;
use crate::session::ProfileFile;
use crate::text::{grouped, in_brief, quantity};
use crate::thread_time::ThreadTime;
use crate::waits::{Monitor, MonitorWaits, plain_name};
use instrument_names::signature::java_class;
use instrument_trace::TreeConsumer;

/// Waits that are worth a line, ns in all.
const LEAST: u64 = 1_000_000;

pub(super) fn longest(screen: &Screen<'_>) -> Option<Finding> {
    let all = screen.session.profiles.iter().filter_map(|file| Some((file, file.waits()?)));
    let contended =
        all.flat_map(|(file, waits)| waits.monitors.iter().map(move |(monitor, of)| (file, monitor, of)));
    let contended: Vec<_> = contended.filter(|(.., of)| of.all.contended.ns >= LEAST).collect();
    let &(file, monitor, of) =
        contended.iter().max_by(|a, b| a.2.all.contended.ns.cmp(&b.2.all.contended.ns).then(b.1.cmp(a.1)))?;
    let sum = &of.all.contended;
    let times = if sum.times == 1 { "once".to_owned() } else { format!("{} times", grouped(sum.times)) };
    let class = file.class(monitor.copy, monitor.class);
    let class = java_class(&class).into_owned();
    let class = class.rsplit('.').next().unwrap_or(&class).to_owned();
    let others = match contended.len() {
        1 => String::new(),
        count => format!("; {} other locks", count - 1),
    };
    let text = format!(
        "{} waits {}, {times}, for a lock ({class}) that {}{others}; monitors shows all",
        waiter(screen, file, monitor, of),
        quantity(sum.ns as f64, "ns"),
        holder(screen, file, monitor, of)
    );
    Some(Finding { name: "locks", text, of: None })
}

/// The program's own method that waited longest.
fn waiter(screen: &Screen<'_>, file: &ProfileFile, monitor: &Monitor, of: &MonitorWaits) -> String {
    let longest = of.contexts.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
    let context = longest.map_or(0, |(context, _)| *context);
    let chain = file.profile.copies.get(&monitor.copy).map(|copy| copy.contexts.chain(context));
    let methods = chain.into_iter().flatten().filter_map(|consumer| match consumer {
        TreeConsumer::Method(id) => Some(file.names.method(monitor.copy, id)),
        _ => None,
    });
    let methods: Vec<String> = methods.collect();
    let own = methods.iter().find(|name| screen.own.fits(Kind::Method, name));
    own.or(methods.first()).map_or_else(|| "code that is not recorded".to_owned(), |name| in_brief(name))
}

/// Which thread had it, and what that does.
fn holder(screen: &Screen<'_>, file: &ProfileFile, monitor: &Monitor, of: &MonitorWaits) -> String {
    // An owner may have left before it is asked for.
    let known = of.owners.iter().filter(|(owner, _)| **owner != 0);
    let longest = known.max_by(|a, b| a.1.ns.cmp(&b.1.ns).then(b.0.cmp(a.0)));
    let Some((thread, held)) =
        longest.and_then(|(owner, held)| Some((file.profile.java_thread(monitor.copy, *owner)?, held)))
    else {
        return "an unknown thread holds (record with --owners all to see it)".to_owned();
    };
    let name = plain_name(thread);
    let does = busiest(screen, name).map_or_else(String::new, |method| format!(" (mostly in {method})"));
    let unknown = of.owners.get(&0).is_some_and(|unknown| unknown.ns > held.ns);
    let mostly = if unknown { ", where the holder is known (--owners all)" } else { "" };
    format!("thread {name} holds{does}{mostly}")
}

/// The program's own method in which a thread of this name spends most time.
fn busiest(screen: &Screen<'_>, thread: &str) -> Option<String> {
    let (model, time) = (screen.model, ThreadTime::of(screen.model)?);
    let mut is_below = vec![false; model.nodes().len()];
    let mut sums: HashMap<_, f64> = HashMap::default();
    for (id, node) in model.ids().zip(model.nodes()).skip(1) {
        let at = id.0 as usize;
        is_below[at] = is_below[node.parent.0 as usize]
            || node.kind == Kind::Thread && is_thread(model.name(node.consumer), thread);
        if let Some(own) = screen.nearest[at].filter(|_| is_below[at]) {
            let base = model.base(id);
            *sums.entry(screen.arcs.of(own)).or_default() += base[time.running] + base[time.waiting];
        }
    }
    let (most, _) = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    Some(screen.brief(most))
}

/// Rows of threads of one name have a number behind it.
fn is_thread(row: &str, name: &str) -> bool {
    row.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(" #") || rest.starts_with(" ("))
}
