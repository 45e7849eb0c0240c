//! What fuzzing of the archive engine runs, and what must hold for any bytes.

use instrument_names::id_map::IdMap;
use instrument_rewriter::archive::{ErrorKind, Limits, NewEntry, Options, Unread, rewrite, visit_classes};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::instrumenter::{Instrumenter, ModuleChange, Runtime};
use instrument_rewriter::rewrite::Transforms;
use std::ops::ControlFlow;

const RUNTIME: &str = "instrument/runtime/Stand-In.class";

/// Instruments `archive` with several options. Returns whether that worked with any of them.
///
/// # Panics
/// If an output is not what [`instrument`] wants.
pub(crate) fn rewrite_jar(archive: &[u8]) -> bool {
    let transforms = [(true, false), (true, true), (false, true)];
    let modules = [ModuleChange::AddPackage, ModuleChange::AddRequires, ModuleChange::None];
    let all = (0..3).map(|index| {
        let (method_events, allocation) = transforms[index];
        let limits = Limits { inflated: 1 << 20, total: 4 << 20, ..Limits::default() };
        let options = Options {
            level: 1,
            strip_signatures: index > 0,
            copy_ambiguous: index > 1,
            batch: [8 << 20, 1, 600][index],
            limits,
            ..Options::default()
        };
        instrument(
            archive,
            Transforms { method_events, allocation, ..Transforms::NONE },
            modules[index],
            &options,
        )
    });
    all.fold(false, |any, worked| any | worked)
}

/// Names and sizes of all classes, if the archive can be read.
fn classes(archive: &[u8], limits: &Limits) -> Option<Vec<(String, usize)>> {
    let mut classes = Vec::new();
    let visited = visit_classes("x.jar", archive, limits, &mut |class| {
        classes.push((class.at.to_string(), class.bytes.len()));
        ControlFlow::Continue(())
    });
    visited.ok().map(|_| classes)
}

/// What can be read stays readable, with the same classes and the runtime; what did not change is the input;
/// what was instrumented is refused when it comes in again; the account is complete.
fn instrument(archive: &[u8], transforms: Transforms, module: ModuleChange, options: &Options) -> bool {
    let filter = Filter::new::<&str>(&[], &["**#excluded"]).expect("a filter");
    let mut ids = IdMap::new();
    let entries = vec![NewEntry { name: RUNTIME.into(), data: b"runtime".to_vec(), stored: false }];
    let mut records = 0;
    let mut instrumenter = Instrumenter::new(transforms, &filter, &mut ids, Runtime { entries, module });
    instrumenter.observe(Box::new(|_, record| {
        records += 1;
        assert!(!(record.rewritten && record.skipped.is_some()));
        assert!(record.methods.iter().all(|method| method.id.is_some() != method.skipped.is_some()));
    }));
    let mut out = Vec::new();
    let Ok(outcome) = rewrite("x.jar", archive, &mut out, &mut instrumenter, options) else { return false };
    let totals = instrumenter.totals().clone();
    drop(instrumenter);
    assert_eq!(outcome.written, out.len() as u64);
    assert_eq!(outcome.changed, out != archive);
    assert_eq!(
        (totals.classes, totals.classes_rewritten, records),
        (outcome.classes, outcome.rewritten, outcome.classes)
    );
    assert!(outcome.copied <= outcome.entries, "{outcome:?}");

    let ambiguous = |reason: &Unread| matches!(reason, Unread::Ambiguous(_));
    if outcome.skipped.iter().any(|skipped| ambiguous(&skipped.reason)) {
        return true;
    }
    // A rewritten class is larger, and the budget grows with the archive: room to read what was written.
    let roomy = Limits { inflated: 16 << 20, total: 64 << 20, ..options.limits };
    if let Some(before) = classes(archive, &options.limits) {
        let after = classes(&out, &roomy).expect("an archive that can be read");
        let grown = before.iter().zip(&after).filter(|(before, after)| after.1 > before.1).count();
        assert!(before.iter().zip(&after).all(|(before, after)| before.0 == after.0 && before.1 <= after.1));
        assert_eq!(grown as u64, outcome.rewritten, "{before:?} {after:?}");
        let added: Vec<&str> = after[before.len()..].iter().map(|(at, _)| at.as_str()).collect();
        assert!(added.iter().all(|at| at.ends_with(RUNTIME)), "{added:?}");
    }
    let again = rewrite(
        "x.jar",
        &out,
        &mut Vec::new(),
        &mut Instrumenter::new(transforms, &filter, &mut IdMap::new(), Runtime::default()),
        options,
    );
    let refused = again.is_err_and(|error| matches!(error.kind, ErrorKind::AlreadyInstrumented { .. }));
    // An ear carries the marker in its library.
    let in_library = outcome.kind == Some(instrument_rewriter::archive::Kind::Ear);
    assert!(refused || outcome.added == 0 || in_library, "instrumented twice");
    true
}

/// Puts the CRC of what is there into the headers of every STORED entry, so that changed content is looked at.
pub(crate) fn repair(archive: &mut [u8]) {
    let u16_at = |bytes: &[u8], at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let u32_at = |bytes: &[u8], at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i])) as usize;
    for at in 0..archive.len().saturating_sub(46) {
        if !archive[at..].starts_with(b"PK\x01\x02") || u16_at(archive, at + 10) != 0 {
            continue;
        }
        let (size, local) = (u32_at(archive, at + 20), u32_at(archive, at + 42));
        if !archive.get(local..).is_some_and(|rest| rest.len() >= 30 && rest.starts_with(b"PK\x03\x04")) {
            continue;
        }
        let data = local + 30 + u16_at(archive, local + 26) + u16_at(archive, local + 28);
        let Some(content) = archive.get(data..data.saturating_add(size)) else { continue };
        let crc = crc32fast::hash(content).to_le_bytes();
        archive[at + 16..at + 20].copy_from_slice(&crc);
        // With a data descriptor the local header has none.
        if archive[local + 6] & 8 == 0 {
            archive[local + 14..local + 18].copy_from_slice(&crc);
        }
    }
}
