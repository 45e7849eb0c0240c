//! Runs the Spring Boot service of the tests, makes 200 requests, ends it, and prints how long that took:
//!
//!     cargo run -p instrument-tests --example spring -- target/debug/instrument run -o out/ -- java -jar @
//!
//! `@` stands for the jar; without it the words run as they are. `--requests N` may come first.

use std::process::Command;

use anyhow::{Context, Result};
use instrument_tests::spring;

fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut requests = 200;
    if words.first().is_some_and(|word| word == "--requests") {
        requests = words.get(1).context("--requests N")?.parse()?;
        words.drain(..2);
    }
    let jar = spring::jar()?.display().to_string();
    let words: Vec<_> = words.iter().map(|word| if word == "@" { jar.as_str() } else { word }).collect();
    let (program, rest) = words.split_first().context("which command starts the service? java -jar @")?;
    let ended = spring::drive(Command::new(program), rest, requests)?;
    print!("{}", ended.stdout);
    eprint!("{}", ended.stderr);
    eprintln!("ended with {:?} after {:.1} s", ended.code, ended.elapsed.as_secs_f64());
    Ok(())
}
