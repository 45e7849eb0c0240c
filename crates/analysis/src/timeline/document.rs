//! A timeline for a page: an overview of all rows, pictures of windows, and what every context did in slices of time,
//! of which a page that nobody serves makes windows.

use serde_json::{Value, json};

use super::{NO_TRACE, Names, RESOURCE, Timeline};
use crate::hash::HashMap;
use crate::report::{Format, Options, xtree};
use crate::session::{Error, ProfileFile};
use crate::trace_index::account::{Part, joined};
use crate::trace_index::levels::{Level, Run};

/// Frames beneath a call that is drawn.
const DEEPEST: u32 = 128;
/// Pixels of an overview.
const PIXELS: u64 = 1024;
/// Most pixels, and boxes, of an answer.
const MOST_PIXELS: u64 = 8192;
const MOST_BOXES: usize = 60_000;
/// Rows of a question, contexts of an answer.
const MOST_ROWS: usize = 1000;
const MOST_CONTEXTS: usize = 20_000;
/// Slices of time that a page has at most; a power of two.
const SLICES: usize = 256;

/// What a page has room for.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Rows; of more those with most calls, and then those that were there longest.
    pub rows: usize,
    /// Waits, arrows, collections and pauses, each.
    pub events: usize,
    /// What contexts did in slices of time; 0: the page can ask.
    pub sums: usize,
}

impl Room {
    /// Of a page in one file.
    pub const FILE: Room = Room { rows: 500, events: 20_000, sums: 200_000 };
    /// Of a page that can ask.
    pub const SERVED: Room = Room { sums: 0, ..Room::FILE };
}

/// What a page asks: a picture of a window, or what a row did in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// From one moment on and before another, ns since the origin.
    pub window: (u64, u64),
    pub rows: Vec<usize>,
    /// How wide the picture is; none: no picture is requested, but what the rows did.
    pub pixels: Option<u64>,
}

impl Question {
    /// Of its text: `FROM-TO/ROW.ROW/PIXELS`, or `FROM-TO/ROW.ROW`; none: it is none.
    pub fn parse(text: &str) -> Option<Question> {
        let mut parts = text.split('/');
        let (from, to) = parts.next()?.split_once('-')?;
        let window = (from.parse().ok()?, to.parse().ok()?);
        let rows = parts.next()?.split('.').take(MOST_ROWS + 1);
        let rows: Vec<usize> = rows.map(|row| row.parse().ok()).collect::<Option<_>>()?;
        let pixels = parts.next().map(|pixels| pixels.parse().ok());
        let is_whole = rows.len() <= MOST_ROWS && parts.next().is_none();
        let pixels = match pixels {
            None => None,
            Some(pixels) => Some(pixels?),
        };
        is_whole.then_some(Question { window, rows, pixels })
    }

    /// The answer, as JSON: a [`picture`], or the document of `instrument timeline`, with the contexts that took most.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn answer(&self, timeline: &Timeline, files: &[ProfileFile]) -> Result<String, Error> {
        if let Some(pixels) = self.pixels {
            return Ok(picture(timeline, files, &self.rows, self.window, pixels)?.to_string());
        }
        let model = timeline.model(files, &self.rows, self.window)?;
        let options = Options { format: Format::Json, top: Some(MOST_CONTEXTS), ..Options::default() };
        let mut text = Vec::new();
        xtree::write(&mut text, &model, &options)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// An overview of all rows.
///
/// # Errors
/// A profile that cannot be read.
pub fn document(timeline: &Timeline, files: &[ProfileFile], room: Room) -> Result<Value, Error> {
    let shown = shown(timeline, room.rows);
    let place: HashMap<usize, usize> = shown.iter().enumerate().map(|(at, &row)| (row, at)).collect();
    let mut classes = Table::default();
    let longest = longest_waits(timeline, &shown, room.events);
    let mut waits = vec![Vec::new(); shown.len()];
    for &(at, number) in &longest {
        let row = &timeline.rows[shown[at]];
        let wait = row.waits[number];
        let class = classes.number(&files[row.process].class(wait.class.0, wait.class.1));
        let kind = u8::from(wait.is_contended) + 2 * u8::from(!wait.has_ended);
        waits[at].push(json!([wait.from, wait.to, kind, class]));
    }
    let rows = shown.iter().zip(waits).map(|(&number, waits)| {
        let row = &timeline.rows[number];
        json!({
            "row": number, "process": row.process, "thread": row.name, "begin_ns": row.begin, "end_ns": row.end,
            "ended": row.has_ended, "calls": row.index.as_ref().map(|index| index.calls), "waits": waits,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let cut = |all: &[(u64, u64)]| all.iter().take(room.events).map(|one| json!([one.0, one.1])).collect();
    let processes = timeline.processes.iter().map(|process| {
        let [collections, pauses]: [Value; 2] = [cut(&process.collections), cut(&process.pauses)];
        json!({
            "label": process.label, "start_ns": process.start, "first_ns": process.first, "collections": collections, "pauses": pauses,
            "uncertainty_ns": process.uncertainty,
        })
    });
    let arrows = timeline.arrows.iter().filter_map(|arrow| {
        let (from, to) = (place.get(&arrow.from.0)?, place.get(&arrow.to.0)?);
        Some(json!([from, arrow.from.1, to, arrow.to.1, arrow.is_start, arrow.is_known]))
    });
    let arrows: Vec<Value> = arrows.take(room.events).collect();
    let traced: Vec<usize> = shown.iter().copied().filter(|&row| timeline.has_calls(row)).collect();
    let all_waits: usize = timeline.rows.iter().map(|row| row.waits.len()).sum();
    let all_arrows = timeline.arrows.len() as u64 + timeline.more_arrows;
    let collections = |of: &super::Process| of.collections.len().saturating_sub(room.events) as u64;
    let picture = picture(timeline, files, &traced, (0, timeline.end), PIXELS)?;
    let slices = if room.sums > 0 && !traced.is_empty() {
        slices(timeline, files, &traced, room.sums)?
    } else {
        Value::Null
    };
    Ok(json!({
        "resource": RESOURCE,
        "end_ns": timeline.end,
        "processes": processes.collect::<Vec<_>>(),
        "rows": rows,
        "classes": classes.names,
        "arrows": arrows,
        "picture": picture,
        "slices": slices,
        "served": room.sums == 0,
        "missing": traced.is_empty().then_some(NO_TRACE),
        "left_out": {
            "rows": timeline.rows.len() - shown.len(),
            "waits": (all_waits - longest.len()) as u64 + timeline.more_waits,
            "arrows": all_arrows - arrows.len() as u64,
            "collections": timeline.processes.iter().map(collections).sum::<u64>(),
        },
    }))
}

/// The rows that a page shows, in their order.
fn shown(timeline: &Timeline, most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..timeline.rows.len()).collect();
    if rows.len() > most {
        let weight = |&row: &usize| {
            let row = &timeline.rows[row];
            let calls = row.index.as_ref().map_or(0, |index| index.calls);
            std::cmp::Reverse((calls, row.end - row.begin))
        };
        rows.sort_by_key(weight);
        rows.truncate(most);
        rows.sort_unstable();
    }
    rows
}

/// The longest waits: the place of the row among those that are shown, and its number there.
fn longest_waits(timeline: &Timeline, shown: &[usize], most: usize) -> Vec<(usize, usize)> {
    let of_row = |(at, &row): (usize, &usize)| (0..timeline.rows[row].waits.len()).map(move |n| (at, n));
    let mut waits: Vec<(usize, usize)> = shown.iter().enumerate().flat_map(of_row).collect();
    if waits.len() > most {
        let length = |&(at, n): &(usize, usize)| {
            let wait = &timeline.rows[shown[at]].waits[n];
            std::cmp::Reverse(wait.to - wait.from)
        };
        waits.sort_by_key(length);
        waits.truncate(most);
        waits.sort_unstable();
    }
    waits
}

/// Names, each with a number.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Table {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

/// What rows with a trace look like in a window, `pixels` wide. A box is depth, beginning, length, name, calls, and ns
/// in one of them.
///
/// # Errors
/// A profile that cannot be read.
pub fn picture(
    timeline: &Timeline,
    files: &[ProfileFile],
    rows: &[usize],
    (from, to): (u64, u64),
    pixels: u64,
) -> Result<Value, Error> {
    let mut names = Table::default();
    let mut answer = Vec::new();
    let resolution = to.saturating_sub(from) / pixels.clamp(1, MOST_PIXELS);
    let room = (MOST_BOXES / rows.len().max(1)).max(1);
    for &number in rows {
        let Some(row) = timeline.rows.get(number) else { continue };
        let Some((file, thread, index)) = timeline.trace(files, row) else { continue };
        let window = (timeline.clock(row, from), timeline.clock(row, to));
        let picture = index.picture(file.source(), thread, window, resolution);
        let mut picture = picture.map_err(Error::profile(&file.path))?;
        picture.boxes.retain(|run| run.depth < DEEPEST);
        while picture.boxes.len() > room {
            picture.resolution = picture.resolution.saturating_mul(2);
            picture.boxes = thinned(&picture.boxes, picture.resolution);
            if picture.resolution > to.saturating_sub(from) {
                picture.boxes.truncate(room);
            }
        }
        let of = Names::new(file, thread.copy);
        let mut known: HashMap<u32, usize> = HashMap::default();
        let origin = timeline.processes[row.process].origin;
        let boxes = picture.boxes.iter().map(|run| {
            let name = *known
                .entry(run.node)
                .or_insert_with(|| names.number(&of.of(index.contexts().consumer(run.node))));
            let start = super::since(run.start, origin);
            json!([run.depth, start, run.end - run.start, name, run.calls, run.busy])
        });
        let boxes: Vec<Value> = boxes.collect();
        answer.push(json!({"row": number, "resolution_ns": picture.resolution, "boxes": boxes}));
    }
    Ok(json!({"from_ns": from, "to_ns": to, "rows": answer, "names": names.names}))
}

/// The same boxes at a coarser resolution.
fn thinned(boxes: &[Run], resolution: u64) -> Vec<Run> {
    let mut level = Level::new(resolution);
    boxes.iter().for_each(|&run| level.take(run, usize::MAX));
    level.into_boxes(usize::MAX).unwrap_or_default()
}

/// What the contexts of rows did in slices of time of the same length, as many as there is room for: `bounds` are the
/// moments between them.
fn slices(timeline: &Timeline, files: &[ProfileFile], rows: &[usize], room: usize) -> Result<Value, Error> {
    let step = timeline.end.div_ceil(SLICES as u64).max(1);
    let mut count = SLICES;
    let mut all: Vec<(usize, Vec<Part>)> = Vec::new();
    for &number in rows {
        let row = &timeline.rows[number];
        let Some((file, thread, index)) = timeline.trace(files, row) else { continue };
        let bounds = (0..=SLICES as u64).map(|slice| timeline.clock(row, slice * step));
        let parts = index.all_parts(file.source(), thread, &bounds.collect::<Vec<_>>());
        let mut parts = parts.map_err(Error::profile(&file.path))?;
        parts.pop();
        parts.remove(0);
        let share = (room / rows.len()).max(1);
        while parts.len() > 1 && size(&parts) > share {
            parts = halved(&parts);
        }
        count = count.min(parts.len());
        all.push((number, parts));
    }
    let mut documents = Vec::new();
    for (number, mut parts) in all {
        while parts.len() > count {
            parts = halved(&parts);
        }
        let Some((file, thread, index)) = timeline.trace(files, &timeline.rows[number]) else { continue };
        documents.push(contexts(number, &parts, &Names::new(file, thread.copy), index.contexts()));
    }
    let step = step * (SLICES / count) as u64;
    let bounds: Vec<u64> = (0..=count as u64).map(|slice| slice * step).collect();
    Ok(json!({"bounds": bounds, "rows": documents}))
}

fn size(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.sums.len() + part.open.len()).sum()
}

/// Two slices become one.
fn halved(parts: &[Part]) -> Vec<Part> {
    let pair = |pair: &[Part]| Part {
        open: pair[0].open.clone(),
        sums: joined(&pair[0].sums, pair.get(1).map_or(&[][..], |second| &second.sums)),
    };
    parts.chunks(2).map(pair).collect()
}

/// The contexts of a row that did something, callers first, and what they did: number, calls that began, ns; and what
/// was open when the slice began: number, calls.
fn contexts(number: usize, parts: &[Part], names: &Names<'_>, known: &crate::replay::Contexts) -> Value {
    let mut is_there = vec![false; known.len()];
    let sums = parts.iter().flat_map(|part| part.sums.iter().map(|sum| sum.node));
    let open = parts.iter().flat_map(|part| part.open.iter().map(|open| open.0));
    for mut node in sums.chain(open) {
        while node != 0 && !std::mem::replace(&mut is_there[node as usize], true) {
            node = known.parent(node);
        }
    }
    let mut table = Table::default();
    let mut places: HashMap<u32, usize> = HashMap::default();
    let mut list = Vec::new();
    for node in (1..known.len() as u32).filter(|&node| is_there[node as usize]) {
        // 0 is the thread.
        places.insert(node, list.len() + 1);
        let above = places.get(&known.parent(node)).copied().unwrap_or(0);
        list.push(json!([above, table.number(&names.of(known.consumer(node)))]));
    }
    let place = |node: u32| places.get(&node).copied().unwrap_or(0);
    let part = |part: &Part| {
        let sums = part.sums.iter().map(|sum| json!([place(sum.node), sum.calls, sum.ns]));
        let open = part.open.iter().map(|open| json!([place(open.0), open.1]));
        json!({"sums": sums.collect::<Value>(), "open": open.collect::<Value>()})
    };
    let parts: Vec<Value> = parts.iter().map(part).collect();
    json!({"row": number, "contexts": list, "names": table.names, "parts": parts})
}
