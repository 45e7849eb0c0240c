//! Answers as text for people. What the program named is printed without control characters.

use super::{Program, changes};
use instrument_analysis::report::text::quantity;
use instrument_control::answer::{
    Answer, Class, Copied, HeapDump, Loader, Monitor, Monitors, Object, ObjectDetails, OneClass, Paused,
    Standstill, Status, Stopped, Thread, ThreadName,
};
use instrument_control::ctl::Request;
use instrument_names::printable::printable;
use instrument_names::program;
use std::borrow::Cow;
use std::io::{Result, Write};

/// A text of the answer, or nothing.
fn text(value: &Option<String>) -> Cow<'_, str> {
    printable(value.as_deref().unwrap_or_default())
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn scaled(value: Option<u64>, unit: &str) -> String {
    value.map_or_else(|| "-".to_owned(), |number| quantity(number as f64, unit))
}

/// Rows with columns as wide as their widest cell; `right`: columns of figures. The last column is not filled up.
fn table(out: &mut dyn Write, right: &[bool], rows: &[Vec<String>]) -> Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..right.len()).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), &right) in row.iter().zip(&widths).zip(right) {
            line += &if right { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

/// Prints the answer to a request.
pub fn print(out: &mut dyn Write, request: &Request, answer: &Answer) -> Result<()> {
    match answer {
        Answer::Status(answer) => status(out, answer),
        Answer::Threads(answer) if *request == (Request::Threads { stacks: 0 }) => {
            threads(out, &answer.threads)?;
            waits_cut(out, answer.waits_cut)
        }
        Answer::Threads(answer) => {
            for one in &answer.threads {
                thread(out, one)?;
                writeln!(out)?;
            }
            waits_cut(out, answer.waits_cut)
        }
        Answer::Thread(answer) => thread(out, answer),
        Answer::Classes(answer) => {
            classes(out, &answer.classes, matches!(request, Request::Classes { instances: true, .. }))
        }
        Answer::Class(answer) => {
            for (place, one) in answer.classes.iter().enumerate() {
                if place > 0 {
                    writeln!(out)?;
                }
                class(out, one)?;
            }
            Ok(())
        }
        Answer::Object(answer) => object_details(out, answer),
        Answer::Monitors(answer) => monitors(out, answer),
        Answer::Monitor(answer) => monitor(out, answer),
        Answer::HeapDump(answer) => heap_dump(out, answer),
        Answer::Copied(answer) => copied(out, request, answer),
        Answer::Paused(answer) => paused(out, answer),
        Answer::Selected(answer) => writeln!(out, "{}", changes::selected(request, answer)),
        Answer::Rooted(answer) => writeln!(out, "{}", changes::rooted(request, answer)),
        Answer::Timed(answer) => writeln!(out, "{}", changes::timed(answer)),
        Answer::Kept(answer) => writeln!(out, "{}", changes::kept(answer)),
        Answer::Stopped(answer) => writeln!(out, "{}", stopped(answer)),
        Answer::Collected(answer) => {
            writeln!(out, "garbage was collected, in {}", scaled(Some(answer.ns), "ns"))
        }
        Answer::Attached(answer) => writeln!(out, "recording has begun: {}", printable(&answer.profile)),
    }
}

/// An object, who made it, and who uses it as a monitor.
fn object_details(out: &mut dyn Write, answer: &ObjectDetails) -> Result<()> {
    let bytes = u64::try_from(answer.bytes).ok();
    writeln!(out, "{}, {}", object(&answer.object), scaled(bytes, "bytes"))?;
    if let Some(made) = &answer.made {
        let (thread, context) = (made.thread, made.context);
        writeln!(out, "    made by  thread {thread} of the profile, in its context {context}")?;
        for method in &made.stack {
            writeln!(out, "        at {}", printable(method))?;
        }
    }
    monitor_use(out, &answer.monitor)
}

/// Says so if it is not known what all threads wait for.
fn waits_cut(out: &mut dyn Write, is_cut: bool) -> Result<()> {
    if is_cut {
        writeln!(
            out,
            "not complete: threads may wait for more; a program that is started with `instrument run --monitors` knows all of it"
        )?;
    }
    Ok(())
}

/// Monitors, one below the other.
fn monitors(out: &mut dyn Write, answer: &Monitors) -> Result<()> {
    if answer.only_contended {
        writeln!(out, "only those that threads wait for: this JVM does not say which ones they have")?;
    }
    for one in &answer.monitors {
        monitor(out, one)?;
    }
    if answer.monitors.is_empty() {
        writeln!(out, "none")?;
    }
    waits_cut(out, answer.waits_cut)
}

/// The file of a heap dump, and what is in it.
fn heap_dump(out: &mut dyn Write, answer: &HeapDump) -> Result<()> {
    let (file, bytes) = (answer.file.display(), scaled(Some(answer.bytes), "bytes"));
    writeln!(out, "{file}: {} objects of {} classes, {bytes}", answer.objects, answer.classes)?;
    match answer.cut {
        0 => Ok(()),
        cut => writeln!(out, "{cut} arrays are too long for the format and were cut"),
    }
}

/// The file of a snapshot, and how long the program was stopped for it.
fn copied(out: &mut dyn Write, request: &Request, answer: &Copied) -> Result<()> {
    let (file, bytes) = (answer.file.display(), scaled(Some(answer.bytes), "bytes"));
    let stopped = scaled(Some(answer.stopped_ns), "ns");
    match request {
        Request::Reset {} => writeln!(
            out,
            "figures count from now on; those up to now are in {file}, {bytes}; the program was stopped for {stopped}"
        ),
        _ => writeln!(out, "{file}: {bytes}; the program was stopped for {stopped}"),
    }
}

/// Whether recording goes on, and its pauses so far.
fn paused(out: &mut dyn Write, answer: &Paused) -> Result<()> {
    let already = if answer.changed { "" } else { " already" };
    let state = if answer.recording.as_deref() == Some("paused") { "paused" } else { "going on" };
    let pauses = answer.pauses.unwrap_or(0);
    let plural = if pauses == 1 { "" } else { "s" };
    let sum = scaled(answer.paused_ns, "ns");
    write!(out, "recording is{already} {state}; {pauses} pause{plural} so far, {sum}")?;
    if answer.classes + answer.refused > 0 {
        let classes = classes_have(answer.classes);
        let code = if state == "paused" { "own code until it goes on" } else { "probes again" };
        write!(out, "; {classes} {code}, which took {}", scaled(Some(answer.ns), "ns"))?;
    }
    if answer.refused > 0 {
        write!(out, "; {} could not be changed", answer.refused)?;
    }
    writeln!(out)
}

fn classes_have(count: u64) -> String {
    if count == 1 { "1 class has its".to_owned() } else { format!("{count} classes have their") }
}

/// What became of the classes when the recording ended.
pub fn stopped(answer: &Stopped) -> String {
    let time = scaled(Some(answer.ns), "ns");
    let profile = answer.profile.as_ref().map_or_else(String::new, |path| format!(": {path}"));
    let left = match answer.refused {
        0 => String::new(),
        n => format!("; {n} could not be changed back, and do nothing from now on"),
    };
    let classes = classes_have(answer.classes);
    format!("recording has ended{profile}; {classes} own code again, which took {time}{left}")
}

/// How long a program stood still; none: it did not.
pub fn standstill(stood: &Standstill) -> Option<String> {
    let Standstill { stops, ns, longest_ns, classes, refused, left_out, later } = *stood;
    let (all, longest) = (scaled(Some(ns), "ns"), scaled(Some(longest_ns), "ns"));
    let rewritten = if classes == 1 { "1 class was".to_owned() } else { format!("{classes} classes were") };
    let mut said = match stops {
        0 if later == 0 && refused == 0 => return None,
        0 => "no class was rewritten".to_owned(),
        1 => format!("{rewritten} rewritten, for which it stood still for {all}"),
        _ => format!(
            "{rewritten} rewritten, for which it stood still {stops} times, {all} in all and {longest} at most"
        ),
    };
    let more = [
        (refused, "were refused"),
        (left_out, "were left out, because of --max-pause"),
        (later, "follow within 0.5 s of their first use, whose calls may be missed until then"),
    ];
    for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
        said += &format!("; {count} {what}");
    }
    Some(said)
}

/// The programs that can be asked.
pub fn programs(out: &mut dyn Write, programs: &[Program]) -> Result<()> {
    let mut rows = vec![words(&["pid", "recording", "profile", "command"])];
    for one in programs {
        // What does not answer has no command here: the reason takes its place.
        let (recording, bytes, command) = match one {
            Program::Silent { error, .. } => {
                ("does not answer".into(), None, error.strip_prefix("does not answer").unwrap_or(error))
            }
            Program::Answers(status) => {
                let command = status.command.as_deref().unwrap_or_default();
                let recording = if is_idle(status) { "armed".into() } else { text(&status.recording) };
                (recording, status.profile_bytes, command)
            }
        };
        rows.push(vec![
            number(one.pid()),
            recording.into_owned(),
            scaled(bytes, "bytes"),
            printable(program::command(command.trim_start_matches([':', ' ']))).into_owned(),
        ]);
    }
    table(out, &[true, false, true, false], &rows)
}

/// Whether a program waits for somebody to ask for a recording.
fn is_idle(status: &Status) -> bool {
    status.armed && status.recording.as_deref() == Some("off")
}

fn status(out: &mut dyn Write, status: &Status) -> Result<()> {
    let mut fact = |name: &str, value: String| match value.trim().is_empty() {
        true => Ok(()),
        false => writeln!(out, "{name:<11} {value}"),
    };
    fact("program", program::line(&text(&status.command), "", status.pid, std::iter::empty()))?;
    fact("on", format!("{}, {}", text(&status.vm), text(&status.java)))?;
    fact("agent", format!("{} {}", printable(&status.agent), printable(&status.options)))?;
    let timing =
        status.timing.as_ref().map_or_else(String::new, |timing| format!(", timing {}", printable(timing)));
    if is_idle(status) {
        let pid = status.pid;
        return fact(
            "recording",
            format!(
                "off; the program is armed: `instrument ctl {pid} start` or `instrument attach {pid}` begins one"
            ),
        );
    }
    let bursts = status
        .burst
        .as_ref()
        .map_or_else(String::new, |burst| format!(", in bursts of {}", printable(burst)));
    fact("recording", format!("{}: {}{timing}{bursts}", text(&status.recording), text(&status.record)))?;
    if let Some(pauses) = status.pauses.filter(|&pauses| pauses > 0) {
        fact("paused", format!("{} in {pauses}", scaled(status.paused_ns, "ns")))?;
    }
    match &status.profile {
        Some(path) => {
            fact("profile", format!("{}, {}", printable(path), scaled(status.profile_bytes, "bytes")))?
        }
        None => fact("profile", "none so far".to_owned())?,
    }
    match status.threads {
        Some(threads) => fact("threads", format!("{threads} recorded")),
        None => Ok(()),
    }
}

// ---- threads ----

/// State and details: `TIMED_WAITING (sleeping)`.
fn state(thread: &Thread) -> String {
    let state = printable(&thread.state);
    if thread.details.is_empty() {
        state.into_owned()
    } else {
        format!("{state} ({})", printable(&thread.details.join(", ")))
    }
}

/// `java.lang.Object @17`.
fn object(object: &Object) -> String {
    format!("{} @{}", printable(&object.class), number(object.id))
}

fn cpu(thread: &Thread) -> Option<u64> {
    thread.cpu_ns.and_then(|ns| u64::try_from(ns).ok())
}

fn threads(out: &mut dyn Write, threads: &[Thread]) -> Result<()> {
    let mut rows = vec![words(&["id", "cpu", "state", "group", "name", "has", "waits for"])];
    for one in threads {
        let has = one.owns.as_ref().map_or(0, Vec::len);
        rows.push(vec![
            number(one.id),
            scaled(cpu(one), "ns"),
            state(one),
            text(&one.group).into_owned(),
            format!("{}{}", text(&one.name), if one.daemon == Some(true) { " (daemon)" } else { "" }),
            if has == 0 { String::new() } else { has.to_string() },
            one.waits_for.as_ref().map_or_else(String::new, object),
        ]);
    }
    table(out, &[true, true, false, false, false, true, false], &rows)
}

fn thread(out: &mut dyn Write, thread: &Thread) -> Result<()> {
    let daemon = if thread.daemon == Some(true) { ", daemon" } else { "" };
    let cpu = cpu(thread).map_or_else(String::new, |ns| format!(", cpu {}", scaled(Some(ns), "ns")));
    writeln!(
        out,
        "\"{}\" #{}, {}, group {}, priority {}{daemon}{cpu}",
        text(&thread.name),
        number(thread.id),
        state(thread),
        text(&thread.group),
        number(thread.priority),
    )?;
    if let Some(monitor) = &thread.waits_for {
        writeln!(out, "    waits for {}", object(monitor))?;
    }
    for monitor in thread.owns.iter().flatten() {
        writeln!(out, "    has {}", object(monitor))?;
    }
    for frame in thread.stack.iter().flatten() {
        let place = match (&frame.file, frame.line) {
            _ if frame.native => "native".into(),
            (Some(file), Some(line)) => format!("{}:{line}", printable(file)),
            (Some(file), None) => printable(file).into_owned(),
            (None, _) => "unknown source".into(),
        };
        writeln!(out, "    at {}.{} ({place})", printable(&frame.class), printable(&frame.method))?;
    }
    Ok(())
}

// ---- monitors ----

fn monitor(out: &mut dyn Write, monitor: &Monitor) -> Result<()> {
    writeln!(out, "{}", object(&monitor.object))?;
    monitor_use(out, monitor)
}

fn monitor_use(out: &mut dyn Write, monitor: &Monitor) -> Result<()> {
    let named = |thread: &ThreadName| format!("\"{}\" #{}", printable(&thread.name), number(thread.id));
    if let Some(owner) = &monitor.owner {
        let times = match monitor.entries {
            1 => String::new(),
            entries => format!(", entered {entries} times"),
        };
        writeln!(out, "    owner    {}{times}", named(owner))?;
    }
    for (threads, what) in [(&monitor.waiters, "to enter"), (&monitor.notify_waiters, "waiting ")] {
        for thread in threads {
            writeln!(out, "    {what} {}", named(thread))?;
        }
    }
    Ok(())
}

// ---- classes ----

fn loader(loader: &Option<Loader>) -> String {
    let Some(loader) = loader else { return " @-".to_owned() };
    match &loader.name {
        Some(name) => printable(name).into_owned(),
        None => format!("{} @{}", text(&loader.class), number(loader.id)),
    }
}

fn classes(out: &mut dyn Write, classes: &[Class], instances: bool) -> Result<()> {
    let mut rows = vec![if instances {
        words(&["bytes", "instances", "class", "loader"])
    } else {
        words(&["class", "loader"])
    }];
    for one in classes {
        let mut row = Vec::new();
        if instances {
            row.extend([number(one.bytes), number(one.instances)]);
        }
        row.extend([printable(&one.name).into_owned(), loader(&one.loader)]);
        rows.push(row);
    }
    table(out, if instances { &[true, true, false, false] } else { &[false, false] }, &rows)
}

fn class(out: &mut dyn Write, class: &OneClass) -> Result<()> {
    let mut fact = |name: &str, value: String| match value.is_empty() {
        true => Ok(()),
        false => writeln!(out, "    {name:<11} {value}"),
    };
    let join = |words: &[String]| printable(&words.join(", ")).into_owned();
    fact("class", format!("{} @{}", printable(&class.name), number(class.id)))?;
    fact("loader", loader(&class.loader))?;
    fact("status", join(class.status.as_deref().unwrap_or_default()))?;
    fact("modifiers", text(&class.modifiers).into_owned())?;
    fact("extends", text(&class.superclass).into_owned())?;
    fact("implements", join(&class.interfaces))?;
    fact("source", text(&class.source).into_owned())?;
    let with_space = |words: &str| if words.is_empty() { String::new() } else { format!("{words} ") };
    for field in class.fields.iter().flatten() {
        let modifiers = with_space(&printable(&field.modifiers));
        fact("field", format!("{modifiers}{} {}", printable(&field.r#type), printable(&field.name)))?;
    }
    for method in class.methods.iter().flatten() {
        let modifiers = with_space(&printable(&method.modifiers));
        let id = method.id.map_or_else(|| "method".to_owned(), |id| format!("method {id}"));
        writeln!(
            out,
            "    {id:<16} {modifiers}{}{}",
            printable(&method.name),
            printable(&method.descriptor)
        )?;
    }
    Ok(())
}
