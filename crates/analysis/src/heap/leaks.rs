//! Leak suspects: objects of one class, made in one context, of which more and more outlive the collections.
//!
//! For each class in each context the *series* is looked at: how many of its objects are there after each of the collections of
//! the later half, what was before being warm-up. The half is divided into [`WINDOWS`] windows (fewer if there are fewer
//! collections), and of each window the least of the series, its *trough*, is taken: what comes and goes between collections of the
//! old objects does not move it. A suspect is a class in a context whose
//!
//! 1. troughs never fall, and grow from one window to the next in three quarters of them: a burst that stays grows in one, what comes
//!    and goes falls somewhere;
//! 2. last window grows by at least a quarter of what windows grow by on average: a cache that is full does not;
//! 3. survivors were made in three quarters of the windows: a queue that grows longer, and whose objects go, holds young ones;
//! 4. growth in bytes is at least a thousandth of what is there in the end.
//!
//! Suspects are ranked by the bytes by which they grew. The objects of a suspect are not lost for certain: only the program
//! knows which of them it still needs.
//!
//! The biographies are read a second time, for up to [`CANDIDATES`] groups, those with most bytes made in the later half and never
//! found to be gone: no group can have grown by more than that. Of each, what came and went is kept for at most [`STEPS`] moments.

use std::collections::BTreeMap;

use instrument_trace::{Error, Holder, HolderPath, HolderSearch, Object, SearchEnd, Source};

use super::Process;
use super::object_lifetimes::{Ends, ObjectLifetimes};
use crate::hash::HashMap;
use crate::text::quantity;

/// Windows of the later half.
pub const WINDOWS: usize = 8;
/// The fewest collections of which anything can be said.
pub const FEWEST: usize = 8;
/// Groups that are looked at closely.
pub const CANDIDATES: usize = 4096;
/// Moments of the later half at which the series is known.
pub const STEPS: usize = 512;
/// No collector of HotSpot keeps an object among the young for more collections than this.
const OLDEST_YOUNG: u32 = 15;

/// Objects of a class, made in a context, that grow in number.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The class, as Java writes it.
    pub class: String,
    /// The methods of the context, innermost first.
    pub context: Vec<String>,
    /// Objects there when the later half of the collections began, and their bytes.
    pub before: (u64, u64),
    /// The same after the last collection.
    pub after: (u64, u64),
    /// Objects made in the later half.
    pub made: u64,
    /// Those of them that were there to the end.
    pub kept: u64,
    /// Collections of the later half.
    pub collections: usize,
    /// Windows, and those in which it grew.
    pub windows: usize,
    /// Those in which it grew.
    pub grew: usize,
    /// ns of the later half.
    pub ns: u64,
    /// The leak that it is part of, from 1; [`Found::group`] numbers them.
    pub leak: usize,
    /// What holds a sample of its objects, the path with most of them first; empty: that was not searched.
    pub holders: Vec<Held>,
}

/// Objects of a suspect that are held in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// In which way.
    pub by: HeldBy,
    /// How many of the sample.
    pub objects: u32,
    /// Objects of the sample.
    pub sampled: u32,
}

/// What holds an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldBy {
    /// A path from a root: see [`HolderPath::Steps`].
    Path(Vec<String>),
    /// Several other paths.
    Others,
    /// Nothing: no collection has looked at it yet.
    Nothing,
    /// The search ended before it came to it.
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Those that grew most first.
    pub suspects: Vec<Suspect>,
    /// What limits what was found, in words.
    pub remarks: Vec<String>,
    /// Why nothing can be said of a process, in words: that it has no suspects means nothing.
    pub undetermined: Vec<String>,
}

impl Found {
    /// How many leaks the suspects are.
    pub fn leaks(&self) -> usize {
        self.suspects.iter().map(|suspect| suspect.leak).max().unwrap_or(0)
    }

    /// Whether neither "there are suspects" nor "there are none" would be true.
    pub fn is_undetermined(&self) -> bool {
        self.suspects.is_empty() && !self.undetermined.is_empty()
    }
}

impl Suspect {
    /// Bytes by which it grew.
    pub fn growth(&self) -> u64 {
        self.after.1.saturating_sub(self.before.1)
    }

    /// Why it is one, in a line.
    pub fn why(&self) -> String {
        let (before, after) = (self.before.0, self.after.0);
        let rate = if self.ns > 0 {
            let per_second = self.growth() as f64 / (self.ns as f64 / 1e9);
            format!(", {}/s", quantity(per_second.round(), "bytes"))
        } else {
            String::new()
        };
        format!(
            "{before} objects became {after} in the last {} collections (+{}{rate}), more in {} of {} windows, fewer in none; {:.0} % of \
             the {} made since are still there",
            self.collections,
            quantity(self.growth() as f64, "bytes"),
            self.grew,
            self.windows,
            100.0 * self.kept as f64 / self.made.max(1) as f64,
            self.made,
        )
    }
}

/// A context and a class: objects of one group, of all threads that count.
type Place = (u32, u32);

/// Moments in the later half of the collections, from its beginning to the last one.
struct Moments {
    /// Collections that have ended at each.
    at: Vec<usize>,
    /// The first moment at which this many have ended, by how many.
    first: Vec<u16>,
}

/// What came and went of a group, by moment.
struct Series {
    came: Vec<i64>,
    bytes: Vec<i64>,
    /// Those that stayed, by the moment at which they were first there.
    stayed: Vec<u64>,
    made: u64,
}

impl Moments {
    fn new(ends: &Ends) -> Moments {
        let (half, last) = (ends.half(), ends.len());
        let steps = (last - half).min(STEPS);
        let at: Vec<usize> = (0..=steps).map(|step| half + step * (last - half) / steps).collect();
        let mut first = Vec::with_capacity(last + 1);
        let mut moment = 0;
        for ended in 0..=last {
            while at[moment] < ended {
                moment += 1;
            }
            first.push(moment as u16);
        }
        Moments { at, first }
    }

    /// The first moment at which an object is there that was made after so many collections; `None`: no collection saw it.
    fn there(&self, born: u32) -> Option<usize> {
        self.first.get(born as usize + 1).map(|&moment| moment.into())
    }

    /// The first moment at which an object is gone.
    fn gone(&self, gone: u32) -> usize {
        let last = self.at.len() - 1;
        self.first.get(gone as usize).map_or(last, |&moment| moment.into())
    }
}

impl Series {
    fn new(moments: &Moments) -> Series {
        let steps = moments.at.len();
        Series { came: vec![0; steps], bytes: vec![0; steps], stayed: vec![0; steps], made: 0 }
    }

    fn add(&mut self, object: &Object, moments: &Moments) {
        let Some(there) = moments.there(object.born) else { return };
        let bytes = object.bytes as i64;
        self.made += u64::from(there > 0);
        self.came[there] += 1;
        self.bytes[there] += bytes;
        match object.gone {
            None => self.stayed[there] += 1,
            // An object that is gone before it was there was there at no moment.
            Some(gone) => {
                let gone = moments.gone(gone).max(there);
                self.came[gone] -= 1;
                self.bytes[gone] -= bytes;
            }
        }
    }

    /// Whether this is a suspect; its class and context are left empty.
    fn judge(&self, moments: &Moments, live_bytes: u64) -> Option<Suspect> {
        let sums = |changes: &[i64]| {
            let sums = changes.iter().scan(0i64, |sum, change| {
                *sum += change;
                Some(*sum)
            });
            sums.map(|sum| sum.max(0) as u64).collect::<Vec<_>>()
        };
        let (there, bytes) = (sums(&self.came), sums(&self.bytes));
        let steps = there.len() - 1;
        let windows = steps.min(WINDOWS);
        let most = windows.div_ceil(4) * 3;
        let needed = most.min(windows).max(3);
        // A window has the moments after the last one of the window before it, up to its own last one.
        let ends: Vec<usize> = (0..=windows).map(|window| window * steps / windows).collect();
        let mut trough = there[0];
        let (mut grew, mut with_survivors) = (0, 0);
        for window in ends.windows(2) {
            let (from, to) = (window[0] + 1, window[1]);
            let least = *there[from..=to].iter().min()?;
            if least < trough {
                return None;
            }
            grew += usize::from(least > trough);
            trough = least;
            with_survivors += usize::from(self.stayed[from..=to].iter().any(|&stayed| stayed > 0));
        }
        let growth = there[steps].saturating_sub(there[0]);
        let last = there[steps].saturating_sub(there[ends[windows - 1]]);
        let still = last as f64 * 4.0 * windows as f64 >= growth as f64;
        let grown = bytes[steps].saturating_sub(bytes[0]);
        if grew < needed || with_survivors < needed || !still || grown == 0 || grown < live_bytes / 1000 {
            return None;
        }
        Some(Suspect {
            class: String::new(),
            context: Vec::new(),
            before: (there[0], bytes[0]),
            after: (there[steps], bytes[steps]),
            made: self.made,
            kept: self.stayed[1..].iter().sum(),
            collections: moments.at[steps] - moments.at[0],
            windows,
            grew,
            ns: 0,
            leak: 0,
            holders: Vec::new(),
        })
    }
}

/// Looks for leaks in a profile.
///
/// # Errors
/// When the source fails.
pub fn find(process: &Process<'_>, source: &impl Source) -> Result<Found, Error> {
    let mut found = Found::default();
    let Some(biographies) = process.biographies else {
        found.undetermined.push(
            "the profile does not say which objects were collected; that takes instrument run --heap objects"
                .into(),
        );
        return Ok(found);
    };
    let mut looked = false;
    for &copy in biographies.epochs.keys() {
        let ends = Ends::new(process.profile, copy);
        if ends.len() >= FEWEST {
            looked = true;
            of_copy(process, biographies, source, copy, &ends, &mut found)?;
        } else if biographies.epochs.len() == 1 {
            let (count, s) = (ends.len(), if ends.len() == 1 { "" } else { "s" });
            found.undetermined.push(format!(
                "the program had {count} garbage collection{s}, and at least {FEWEST} are needed; let it run longer, or with a smaller heap \
                 (-Xmx)"
            ));
        }
    }
    if !looked && found.undetermined.is_empty() {
        found
            .undetermined
            .push(format!("there were too few garbage collections; at least {FEWEST} are needed"));
    }
    found.suspects.sort_by(|a, b| b.growth().cmp(&a.growth()).then_with(|| a.class.cmp(&b.class)));
    found.group();
    Ok(found)
}

fn of_copy(
    process: &Process<'_>,
    biographies: &ObjectLifetimes,
    source: &impl Source,
    copy: u32,
    ends: &Ends,
    found: &mut Found,
) -> Result<(), Error> {
    let mut late: BTreeMap<Place, (u64, u64)> = BTreeMap::new();
    let mut live_bytes = 0;
    for (key, figures) in biographies.groups.iter().filter(|(key, _)| key.copy == copy) {
        live_bytes += figures.live_bytes;
        if figures.late > 0 && (process.threads)(copy, key.thread) {
            let sum = late.entry((key.context, key.class)).or_default();
            *sum = (sum.0 + figures.late_bytes, sum.1 + figures.late);
        }
    }
    let moments = Moments::new(ends);
    // Fewer survivors than windows that need one are no suspect.
    let mut candidates: Vec<_> = late.into_iter().filter(|(_, (_, objects))| *objects >= 3).collect();
    candidates.sort_by_key(|&(place, (bytes, _))| (std::cmp::Reverse(bytes), place));
    if candidates.len() > CANDIDATES {
        let left = candidates[CANDIDATES].1.0;
        found.remarks.push(format!(
            "{} groups were not checked; none of them has grown by more than {}",
            candidates.len() - CANDIDATES,
            quantity(left as f64, "bytes")
        ));
        candidates.truncate(CANDIDATES);
    }
    let places = candidates.iter().enumerate().map(|(i, &(place, _))| (place, i));
    let places: HashMap<Place, usize> = places.collect();
    let mut series: Vec<Series> = candidates.iter().map(|_| Series::new(&moments)).collect();
    let mut oldest_gone = 0;
    let half = ends.half() as u32;
    let mut visit = |object: &Object| {
        if object.gone.is_some_and(|gone| gone > half) {
            oldest_gone = oldest_gone.max(object.outlived().unwrap_or(0));
        }
        if let Some(&place) = places.get(&(object.context, object.class))
            && (process.threads)(copy, object.thread)
        {
            series[place].add(object, &moments);
        }
    };
    let pieces = process.profile.objects.iter().filter(|piece| piece.copy == copy);
    pieces.into_iter().try_for_each(|piece| piece.for_each(source, &mut visit))?;
    let from = ends.clock(half).or_else(|| process.profile.collections_of(copy).first().map(|c| c.start));
    let ns = ends.clock(ends.len() as u32).zip(from).map_or(0, |(to, from)| to.saturating_sub(from));
    let before = found.suspects.len();
    let search = process.profile.holder_searches.iter().rfind(|search| search.copy == copy);
    for (series, ((context, class), _)) in series.iter().zip(&candidates) {
        if let Some(suspect) = series.judge(&moments, live_bytes) {
            let holders = search.map_or_else(Vec::new, |search| of_place(search, (*context, *class)));
            let class = process.class(copy, *class);
            let context = process.makers(&class, copy, *context);
            found.suspects.push(Suspect { class, context, ns, holders, ..suspect });
        }
    }
    if found.suspects.len() > before && oldest_gone <= OLDEST_YOUNG {
        found.remarks.push(format!(
            "nothing that had outlived more than {oldest_gone} collections was found gone in the last {}: old garbage may not have been \
             collected yet; a full collection before the end tells it from leaks",
            ends.len() - ends.half()
        ));
    }
    if found.suspects.len() > before {
        found.remarks.extend(limit_of(search));
    }
    Ok(())
}

/// The holders of a group.
fn of_place(search: &HolderSearch, (context, class): Place) -> Vec<Held> {
    let of_place = |holder: &&Holder| (holder.context, holder.class) == (context, class);
    let held = |holder: &Holder| {
        let by = match &holder.path {
            HolderPath::Steps(steps) => HeldBy::Path(steps.clone()),
            HolderPath::Others => HeldBy::Others,
            HolderPath::NotMet if search.end == SearchEnd::Whole => HeldBy::Nothing,
            HolderPath::NotMet => HeldBy::Unknown,
        };
        Held { by, objects: holder.objects, sampled: holder.sampled }
    };
    search.holders.iter().filter(of_place).map(held).collect()
}

/// What keeps the holders from being known.
fn limit_of(search: Option<&HolderSearch>) -> Option<String> {
    let Some(search) = search else {
        return Some(
            "who holds the suspects is not in the profile: instrument run --heap objects searches the heap when the program ends, unless it \
             is killed (kill -9) or --heap-holders 0 is given"
                .to_owned(),
        );
    };
    let option = match search.end {
        SearchEnd::Whole => return None,
        SearchEnd::Time => "; --heap-holders SECONDS gives it more time",
        SearchEnd::Objects => ", as many as it may; a heap dump has all (--heap-dump FILE)",
    };
    Some(format!(
        "the search for who holds the suspects ended after {} objects{option}",
        quantity(search.objects.into(), "")
    ))
}
