//! Looks for leaks in a profile that is written for it.

use instrument_analysis::heap::Process;
use instrument_analysis::heap::leaks::{Found, find};
use instrument_analysis::heap::object_lifetimes::ObjectLifetimes;
use instrument_testing::Writer;
use instrument_trace::Profile;

/// A profile of a program with one context and so many collections, 1 ms apart.
pub(crate) fn collected(collections: u32) -> Writer {
    let mut writer = Writer::new();
    let clocks = (1..=u64::from(collections)).map(|k| (1_000_000 * k, 1_000_000 * k + 10));
    writer.collections(1, &clocks.collect::<Vec<_>>()).contexts(1, &[(0, Some(5))]);
    writer
}

/// What is found of the objects of threads that count, by copy of the runtime and ordinal.
pub(crate) fn found(writer: Writer, threads: &dyn Fn(u32, u32) -> bool) -> Found {
    let data = writer.finish();
    let profile = Profile::parse(&data).unwrap();
    assert_eq!(profile.damage, []);
    let biographies = ObjectLifetimes::read(&profile, &data).unwrap();
    let process = Process {
        profile: &profile,
        biographies: biographies.as_ref(),
        methods: &|_, id| format!("m{id}"),
        classes: &|_, number| number.to_string(),
        threads,
    };
    find(&process, &data).unwrap()
}
