//! Prints what the reader finds in profiles: `cargo run -p instrument-trace --example show -- FILE..`

use std::process::ExitCode;

use instrument_trace::Profile;

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let profile = std::fs::read(&path).map_err(|e| e.to_string());
        match profile.and_then(|data| Profile::parse(&data).map_err(|e| e.to_string())) {
            Ok(profile) => {
                println!("{path}: pid {} dropped {} {:?}", profile.pid, profile.dropped, profile.damage);
                for thread in &profile.threads {
                    println!(
                        "{:?} {} {:?} dropped {}",
                        thread.kind, thread.ordinal, thread.name, thread.dropped
                    );
                    for (id, m) in &thread.methods {
                        println!("  {id}: {m:?}");
                    }
                }
                println!("{} in flight, violations: {:?}", profile.in_flight(), profile.imbalances());
            }
            Err(e) => {
                eprintln!("{path}: {e}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
