//! The rows of how long calls took.

use super::batch::Cell;
use super::inputs::Input;
use super::known::Known;
use super::{Files, Folder, Rows};
use crate::latency::Latency;
use crate::model::Kind;
use crate::session::{Error, ProfileFile};

/// Adds the histograms that a process has kept.
pub(super) fn rows<F: Folder>(
    profiles: &[ProfileFile],
    input: &Input,
    known: &mut Known,
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let Some(latency) = Latency::kept(profiles, &|_| true) else { return Ok(()) };
    for (name, durations) in &latency.methods {
        let method = known.method(Kind::Method, name, profiles).key;
        for (of, failed) in [(&durations.returned, false), (&durations.failed, true)] {
            let Some((least, most)) = of.range() else { continue };
            let zeros = (of.zeros() > 0).then_some((None, of.zeros()));
            let buckets = of.buckets().map(|(bucket, calls)| (Some(bucket), calls));
            for (bucket, calls) in zeros.into_iter().chain(buckets) {
                let row = [
                    Cell::Key(input.key),
                    method.into(),
                    failed.into(),
                    bucket.map_or(Cell::Null, |bucket| Cell::Int(bucket.into())),
                    calls.into(),
                    least.into(),
                    most.into(),
                ];
                rows.push(&row, files)?;
            }
        }
    }
    Ok(())
}
