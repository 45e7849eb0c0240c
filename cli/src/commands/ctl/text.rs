//! Answers as text for people. What the program named is printed without control characters.

use super::Request;
use instrument_analysis::report::text::quantity;
use instrument_names::printable::printable;
use serde_json::Value;
use std::io::{Result, Write};

/// A text of the answer, or nothing.
fn text<'v>(value: &'v Value, key: &str) -> std::borrow::Cow<'v, str> {
    printable(value[key].as_str().unwrap_or_default())
}

fn number(value: &Value, key: &str) -> String {
    value[key].as_i64().map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn scaled(value: &Value, key: &str, unit: &str) -> String {
    value[key].as_f64().map_or_else(|| "-".to_owned(), |number| quantity(number, unit))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
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

pub(super) fn print(out: &mut dyn Write, request: &Request, answer: &Value) -> Result<()> {
    match request {
        Request::Status => status(out, answer),
        Request::Threads { stacks: true, .. } => {
            for one in list(answer, "threads") {
                thread(out, one)?;
                writeln!(out)?;
            }
            Ok(())
        }
        Request::Threads { .. } => threads(out, answer),
        Request::Thread { .. } => thread(out, answer),
        Request::Classes { instances, .. } => classes(out, answer, *instances),
        Request::Class { .. } => {
            for (place, one) in list(answer, "classes").iter().enumerate() {
                if place > 0 {
                    writeln!(out)?;
                }
                class(out, one)?;
            }
            Ok(())
        }
        Request::Object { .. } => {
            writeln!(out, "{}, {}", object(answer), scaled(answer, "bytes", "bytes"))?;
            let made = &answer["made"];
            if !made.is_null() {
                let (thread, context) = (number(made, "thread"), number(made, "context"));
                writeln!(out, "    made by  thread {thread} of the profile, in its context {context}")?;
                for method in list(made, "stack") {
                    writeln!(out, "        at {}", printable(method.as_str().unwrap_or_default()))?;
                }
            }
            monitor_use(out, &answer["monitor"])
        }
        Request::Monitors => {
            if answer["only_contended"] == true {
                writeln!(
                    out,
                    "only those that threads wait for: this JVM does not say which ones they have"
                )?;
            }
            for one in list(answer, "monitors") {
                monitor(out, one)?;
            }
            if list(answer, "monitors").is_empty() {
                writeln!(out, "none")?;
            }
            Ok(())
        }
        Request::Monitor { .. } => monitor(out, answer),
        Request::HeapDump { file } => {
            let (objects, classes) = (number(answer, "objects"), number(answer, "classes"));
            let (file, bytes) = (file.display(), scaled(answer, "bytes", "bytes"));
            writeln!(out, "{file}: {objects} objects of {classes} classes, {bytes}")?;
            match answer["cut"].as_u64() {
                Some(cut) if cut > 0 => {
                    writeln!(out, "{cut} arrays are too long for the format and were cut")
                }
                _ => Ok(()),
            }
        }
        Request::Snapshot { file } => writeln!(
            out,
            "{}: {}; the program was stopped for {}",
            file.display(),
            scaled(answer, "bytes", "bytes"),
            scaled(answer, "stopped_ns", "ns")
        ),
        Request::Reset => writeln!(
            out,
            "figures count from now on; those up to now are in {}, {}; the program was stopped for {}",
            text(answer, "file"),
            scaled(answer, "bytes", "bytes"),
            scaled(answer, "stopped_ns", "ns")
        ),
        Request::Pause | Request::Resume => {
            let already = if answer["changed"] == false { " already" } else { "" };
            let state = if answer["recording"] == "paused" { "paused" } else { "going on" };
            let pauses = answer["pauses"].as_u64().unwrap_or(0);
            let plural = if pauses == 1 { "" } else { "s" };
            let sum = scaled(answer, "paused_ns", "ns");
            writeln!(out, "recording is{already} {state}; {pauses} pause{plural} so far, {sum}")
        }
        Request::Stop => writeln!(out, "{}", stopped(answer)),
        Request::Gc => writeln!(out, "garbage was collected, in {}", scaled(answer, "ns", "ns")),
    }
}

/// What became of the classes when the recording ended.
pub(super) fn stopped(answer: &Value) -> String {
    let (classes, refused) =
        (answer["classes"].as_u64().unwrap_or(0), answer["refused"].as_u64().unwrap_or(0));
    let time = scaled(answer, "ns", "ns");
    let profile = answer["profile"].as_str().map_or_else(String::new, |path| format!(": {path}"));
    let left = match refused {
        0 => String::new(),
        n => format!("; {n} could not be changed back, and do nothing from now on"),
    };
    format!(
        "recording has ended{profile}; {classes} classes have their own code again, which took {time}{left}"
    )
}

/// The programs that can be asked.
pub(super) fn programs(out: &mut dyn Write, programs: &[Value]) -> Result<()> {
    let mut rows = vec![words(&["pid", "recording", "profile", "command"])];
    for one in programs {
        // What does not answer has no command here: the reason takes its place.
        let (recording, command) = match one["error"].as_str() {
            Some(reason) => {
                ("does not answer".into(), reason.strip_prefix("does not answer").unwrap_or(reason))
            }
            None => (text(one, "recording"), one["command"].as_str().unwrap_or_default()),
        };
        rows.push(vec![
            number(one, "pid"),
            recording.into_owned(),
            scaled(one, "profile_bytes", "bytes"),
            printable(command.trim_start_matches([':', ' '])).into_owned(),
        ]);
    }
    table(out, &[true, false, true, false], &rows)
}

fn status(out: &mut dyn Write, status: &Value) -> Result<()> {
    let mut fact = |name: &str, value: String| match value.trim().is_empty() {
        true => Ok(()),
        false => writeln!(out, "{name:<11} {value}"),
    };
    fact("program", format!("{} (pid {})", text(status, "command"), number(status, "pid")))?;
    fact("on", format!("{}, {}", text(status, "vm"), text(status, "java")))?;
    fact("agent", format!("{} {}", text(status, "agent"), text(status, "options")))?;
    let timing = match status["timing"].as_str() {
        Some(timing) => format!(", timing {}", printable(timing)),
        None => String::new(),
    };
    fact("recording", format!("{}: {}{timing}", text(status, "recording"), text(status, "record")))?;
    if status["pauses"].as_u64().unwrap_or(0) > 0 {
        fact("paused", format!("{} in {}", scaled(status, "paused_ns", "ns"), number(status, "pauses")))?;
    }
    match status["profile"].as_str() {
        Some(path) => {
            fact("profile", format!("{}, {}", printable(path), scaled(status, "profile_bytes", "bytes")))?
        }
        None => fact("profile", "none so far".to_owned())?,
    }
    match status["threads"].as_u64() {
        Some(threads) => fact("threads", format!("{threads} recorded")),
        None => Ok(()),
    }
}

// ---- threads ----

/// State and details: `TIMED_WAITING (sleeping)`.
fn state(thread: &Value) -> String {
    let details: Vec<&str> = list(thread, "details").iter().filter_map(Value::as_str).collect();
    let state = text(thread, "state");
    if details.is_empty() {
        state.into_owned()
    } else {
        format!("{state} ({})", printable(&details.join(", ")))
    }
}

/// `java.lang.Object @17`.
fn object(object: &Value) -> String {
    format!("{} @{}", text(object, "class"), number(object, "id"))
}

fn threads(out: &mut dyn Write, answer: &Value) -> Result<()> {
    let mut rows = vec![words(&["id", "cpu", "state", "group", "name", "has", "waits for"])];
    for one in list(answer, "threads") {
        let has = list(one, "owns").len();
        rows.push(vec![
            number(one, "id"),
            scaled(one, "cpu_ns", "ns"),
            state(one),
            text(one, "group").into_owned(),
            format!("{}{}", text(one, "name"), if one["daemon"] == true { " (daemon)" } else { "" }),
            if one["owns"].is_null() || has == 0 { String::new() } else { has.to_string() },
            if one["waits_for"].is_null() { String::new() } else { object(&one["waits_for"]) },
        ]);
    }
    table(out, &[true, true, false, false, false, true, false], &rows)
}

fn thread(out: &mut dyn Write, thread: &Value) -> Result<()> {
    let daemon = if thread["daemon"] == true { ", daemon" } else { "" };
    let cpu = match thread["cpu_ns"].is_null() {
        true => String::new(),
        false => format!(", cpu {}", scaled(thread, "cpu_ns", "ns")),
    };
    writeln!(
        out,
        "\"{}\" #{}, {}, group {}, priority {}{daemon}{cpu}",
        text(thread, "name"),
        number(thread, "id"),
        state(thread),
        text(thread, "group"),
        number(thread, "priority"),
    )?;
    if !thread["waits_for"].is_null() {
        writeln!(out, "    waits for {}", object(&thread["waits_for"]))?;
    }
    for monitor in list(thread, "owns") {
        writeln!(out, "    has {}", object(monitor))?;
    }
    for frame in list(thread, "stack") {
        let place = match (frame["file"].as_str(), frame["line"].as_i64()) {
            _ if frame["native"] == true => "native".into(),
            (Some(file), Some(line)) => format!("{}:{line}", printable(file)),
            (Some(file), None) => printable(file).into_owned(),
            (None, _) => "unknown source".into(),
        };
        writeln!(out, "    at {}.{} ({place})", text(frame, "class"), text(frame, "method"))?;
    }
    Ok(())
}

// ---- monitors ----

fn monitor(out: &mut dyn Write, monitor: &Value) -> Result<()> {
    writeln!(out, "{}", object(monitor))?;
    monitor_use(out, monitor)
}

fn monitor_use(out: &mut dyn Write, monitor: &Value) -> Result<()> {
    let named = |thread: &Value| format!("\"{}\" #{}", text(thread, "name"), number(thread, "id"));
    if !monitor["owner"].is_null() {
        let times = match monitor["entries"].as_i64() {
            Some(entries) if entries != 1 => format!(", entered {entries} times"),
            _ => String::new(),
        };
        writeln!(out, "    owner    {}{times}", named(&monitor["owner"]))?;
    }
    for (key, what) in [("waiters", "to enter"), ("notify_waiters", "waiting ")] {
        for thread in list(monitor, key) {
            writeln!(out, "    {what} {}", named(thread))?;
        }
    }
    Ok(())
}

// ---- classes ----

fn loader(class: &Value) -> String {
    let loader = &class["loader"];
    if loader["name"].is_string() { text(loader, "name").into_owned() } else { object(loader) }
}

fn classes(out: &mut dyn Write, answer: &Value, instances: bool) -> Result<()> {
    let mut rows = vec![if instances {
        words(&["bytes", "instances", "class", "loader"])
    } else {
        words(&["class", "loader"])
    }];
    for one in list(answer, "classes") {
        let mut row = Vec::new();
        if instances {
            row.extend([number(one, "bytes"), number(one, "instances")]);
        }
        row.extend([text(one, "name").into_owned(), loader(one)]);
        rows.push(row);
    }
    table(out, if instances { &[true, true, false, false] } else { &[false, false] }, &rows)
}

fn class(out: &mut dyn Write, class: &Value) -> Result<()> {
    let join = |key: &str| {
        let words: Vec<&str> = list(class, key).iter().filter_map(Value::as_str).collect();
        printable(&words.join(", ")).into_owned()
    };
    let mut fact = |name: &str, value: String| match value.is_empty() {
        true => Ok(()),
        false => writeln!(out, "    {name:<11} {value}"),
    };
    fact("class", format!("{} @{}", text(class, "name"), number(class, "id")))?;
    fact("loader", loader(class))?;
    fact("status", join("status"))?;
    fact("modifiers", text(class, "modifiers").into_owned())?;
    fact("extends", text(class, "superclass").into_owned())?;
    fact("implements", join("interfaces"))?;
    fact("source", text(class, "source").into_owned())?;
    let with_space =
        |words: std::borrow::Cow<'_, str>| if words.is_empty() { String::new() } else { format!("{words} ") };
    for field in list(class, "fields") {
        let modifiers = with_space(text(field, "modifiers"));
        fact("field", format!("{modifiers}{} {}", text(field, "type"), text(field, "name")))?;
    }
    for method in list(class, "methods") {
        let modifiers = with_space(text(method, "modifiers"));
        let id = method["id"].as_i64().map_or_else(|| "method".to_owned(), |id| format!("method {id}"));
        writeln!(out, "    {id:<16} {modifiers}{}{}", text(method, "name"), text(method, "descriptor"))?;
    }
    Ok(())
}
