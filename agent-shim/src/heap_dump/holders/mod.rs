//! Who holds objects that may leak: paths from what the collector starts at to a sample of them.
//!
//! [`search`], when the program ends and objects have biographies:
//!
//! 1. Groups: of the objects of one class, made in one context, those that were made in the later half of the collections and are still
//!    there. `instrument heap --leaks` looks for suspects among the same. The [`GROUPS`] with most bytes are taken, and of each a sample
//!    of at most [`SAMPLE`] objects that outlived a collection, spread evenly over the heap.
//! 2. One walk from the roots, during which the program stands still. Each object that it meets gets a number and keeps through which
//!    reference it was met with the fewest steps so far. A static field is a beginning of its own: that its class is there is no news.
//!    The referents of weak and phantom references are not followed.
//! 3. The tags are put back, and the paths of the sample are read backwards, written as names, and counted.
//!
//! Bounds: the walk ends at the deadline and after [`OBJECTS`](walk::OBJECTS) objects, 24 bytes each; then what it has not met is not known. Arrays
//! of primitive types take nothing.
//!
//! A step from an object to one of its own class (`HashMap$Node.next`, the branches of a tree) is left out of a path: where in a list
//! or tree the object is does not say who holds it, and with it no two paths would be the same. For the same reason the fields that
//! lead to the first object of such a class are one step: `LinkedList.first|last`.

mod text;
mod walk;

use super::classes::Classes;
use super::said;
use super::tags::{self, Tags};
use crate::heap::{self, Life};
use crate::jvmti::heap::LeaveOut;
use crate::jvmti::{Jni, Jvmti, JvmtiError};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use text::Names;
use walk::Walk;

/// The fewest collections after which there may be suspects; `instrument heap` needs as many.
const FEWEST_COLLECTIONS: u64 = 8;
/// Groups that are looked at.
const GROUPS: usize = 64;
/// Objects that are looked for of each.
const SAMPLE: u64 = 1000;

/// Objects of one class that were made in one context.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    class: u32,
    context: u32,
    /// Objects that outlived a collection.
    old: u64,
    /// Objects that were made in the later half of the collections, and their bytes.
    late: u64,
    late_bytes: u64,
    sampled: u32,
}

/// What was found, as the profile has it (kind 22); none: there is nothing to look for.
///
/// # Errors
/// What the virtual machine refused. The tags are as they were before.
pub(crate) fn search<'a>(jvmti: Jvmti<'a>, jni: Jni<'a>, limit: Duration) -> Result<Option<Vec<u8>>, String> {
    let start = Instant::now();
    let collections = heap::collections();
    if limit.is_zero() || collections < FEWEST_COLLECTIONS {
        return Ok(None);
    }
    let mut groups = groups(jvmti, collections).map_err(said)?;
    if groups.is_empty() {
        return Ok(None);
    }
    let sample = sample(jvmti, &mut groups).map_err(said)?;
    let (mut classes, mut tags) = (Classes::default(), Tags::default());
    let described = classes.add_new(jvmti, jni, &mut tags);
    classes.lay_out();
    let mut walk = Walk::new(&classes, &sample, start + limit);
    let walked = described.and_then(|_| {
        let threads = walk.threads(jvmti, jni).map_err(said)?;
        match jvmti.follow_references(None, &mut walk).map_err(said)? {
            true => Ok(threads),
            false => Err("internal error in the walk through the heap".to_owned()),
        }
    });
    let nodes = std::mem::take(&mut walk.nodes);
    // Also where the walk failed.
    jvmti
        .iterate_heap(LeaveOut::Untagged, |_, tag| {
            *tag = match tags::walked(*tag) {
                Some(number) => nodes.get(number as usize - 1).map_or(0, |node| node.tag),
                None => tags::restored(*tag),
            }
        })
        .map_err(said)?;
    let mut names = Names { jvmti, jni, classes: &classes, threads: walked?, entries: HashMap::new() };
    Ok(Some(names.write(&groups, &nodes, &walk.end(), start.elapsed())))
}

/// The groups that may leak.
fn groups(jvmti: Jvmti<'_>, collections: u64) -> Result<Vec<Group>, JvmtiError> {
    let mut groups: HashMap<(u32, u32), Group> = HashMap::new();
    let mut bytes = 0u64;
    jvmti.iterate_heap(LeaveOut::Untagged, |_, tag| {
        let Some(life) = life(*tag) else { return };
        bytes += life.bytes;
        let key = (life.class, life.context);
        let group = groups.entry(key).or_insert(Group { class: key.0, context: key.1, ..Group::default() });
        group.old += u64::from(life.born < collections);
        if life.born >= collections / 2 {
            group.late += 1;
            group.late_bytes += life.bytes;
        }
    })?;
    // The conditions of the report that no later look can change.
    let mut groups: Vec<Group> =
        groups.into_values().filter(|group| group.late >= 3 && group.late_bytes >= bytes / 1000).collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.late_bytes), group.class, group.context));
    groups.truncate(GROUPS);
    Ok(groups)
}

/// Chooses objects of each group: their groups by their numbers.
fn sample(jvmti: Jvmti<'_>, groups: &mut [Group]) -> Result<HashMap<u64, u32>, JvmtiError> {
    let places: HashMap<(u32, u32), u32> =
        groups.iter().enumerate().map(|(i, group)| ((group.class, group.context), i as u32)).collect();
    let collections = heap::collections();
    let mut seen = vec![0u64; groups.len()];
    let mut sample = HashMap::new();
    jvmti.iterate_heap(LeaveOut::Untagged, |_, tag| {
        let Some(life) = life(*tag).filter(|life| life.born < collections) else { return };
        let Some(&place) = places.get(&(life.class, life.context)) else { return };
        let group = &mut groups[place as usize];
        let number = &mut seen[place as usize];
        if number.is_multiple_of(group.old.div_ceil(SAMPLE).max(1)) {
            sample.insert(super::number(*tag), place);
            group.sampled += 1;
        }
        *number += 1;
    })?;
    Ok(sample)
}

/// What is known of the object with this tag.
fn life(tag: i64) -> Option<Life> {
    heap::life(super::number(tag))
}
