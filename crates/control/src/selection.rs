//! What is recorded, in the words that both ends write into profiles: a rewritten jar and a run under the agent with the same options compare.

use instrument_names::pattern::split_list;
use instrument_names::selection::Selection;
use instrument_names::word::Word;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::Transforms;

use crate::keys;
use crate::word::{LibraryCalls, Transform};

/// Of [`keys::NATIVE`]: native methods have wrappers, and every call is recorded.
pub const NATIVE_WRAPPED: &str = "wrapped";
/// Of [`keys::NATIVE`]: calls are recorded where rewritten code makes them, which are not all.
pub const NATIVE_AT_CALLS: &str = "at-calls";

/// What these options insert.
pub fn selection(
    transforms: Transforms,
    library_calls: LibraryCalls,
    filter: &Filter,
    regions: &[Region],
) -> Selection {
    let (include, exclude) = filter.patterns();
    let calls = Some(library_calls.word()).filter(|_| library_calls != LibraryCalls::None);
    Selection::default()
        .with(Selection::TRANSFORM, Transform::list(transforms).iter().map(|transform| transform.word()))
        .with(keys::LIBRARY_CALLS, calls)
        .with(keys::INCLUDE, include)
        .with(keys::EXCLUDE, exclude)
        .with(keys::REGION, regions.iter().map(|region| &region.name))
}

/// The same below root methods only; an entry may be a list of patterns.
#[must_use]
pub fn below(selection: Selection, roots: &[String]) -> Selection {
    selection.with(keys::ROOT, roots.iter().flat_map(|list| split_list(list, &[':', ','])))
}
