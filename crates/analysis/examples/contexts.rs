//! Prints the calling context trees of profiles, traces replayed: `cargo run -p instrument-analysis --example contexts -- FILE..`

use std::fs::File;
use std::process::ExitCode;

use instrument_analysis::replay;
use instrument_trace::{Error, Profile, Thread};

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        match read(&path) {
            Ok(profile) => print(&path, &profile),
            Err(e) => {
                eprintln!("{path}: {e}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn read(path: &str) -> Result<Profile, Error> {
    let file = File::open(path)?;
    let mut profile = Profile::open(&file)?;
    replay::profile(&file, &mut profile)?;
    Ok(profile)
}

fn print(path: &str, profile: &Profile) {
    println!("{path}: {:?} {:?} {:?}", profile.mode(), profile.calibration(), profile.links);
    for damage in &profile.damage {
        println!("damage: {damage}");
    }
    for thread in &profile.threads {
        print_thread(thread);
    }
    println!("{} in flight, violations: {:?}", profile.in_flight(), profile.imbalances());
}

fn print_thread(thread: &Thread) {
    let Thread { name, ordinal, start, last_event, pause, dropped, stack, .. } = thread;
    let (ns, open) = (last_event.saturating_sub(*start), stack.len());
    println!("{ordinal} {name:?}: {ns} ns, {open} open, {pause} ns taken by the recorder, {dropped} dropped");
    let mut depths = vec![0];
    for (node, number) in thread.tree.iter().flat_map(|tree| &tree.nodes).zip(1..) {
        let depth = depths[node.parent as usize] + 1;
        depths.push(depth);
        let (closes, unmatched) = (&node.closes, node.unmatched);
        println!(
            "{number:6} {:indent$}{:?} under {}: {} entries, {closes:?}, {unmatched} unmatched, {} open, {} ns",
            "",
            node.consumer,
            node.parent,
            node.entries,
            node.open,
            node.ns,
            indent = depth
        );
    }
    for made in &thread.tree_allocations {
        println!("  {made:?}");
    }
}
