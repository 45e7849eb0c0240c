//! How fast texts are read: `cargo bench -p instrument-analysis --bench input`. Each is made in memory, and read five times;
//! the best is printed.

use std::fmt::Write;
use std::time::{Duration, Instant};

use instrument_analysis::input;

const LINES: usize = 1_000_000;

/// The same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn name(number: usize) -> String {
    format!("com/acme/shop/service/impl/Class{number}.method{}", number % 37)
}

/// What a method calls: one of three, so that contexts come back.
fn callee(caller: usize, which: usize) -> usize {
    (caller * 31 + which * 7919 + 17) % 3000
}

fn events(numbers: &mut Numbers) -> String {
    let (mut text, mut open, mut clock) = (String::from("metrics: wall ns\n@ main\n"), Vec::new(), 0);
    for _ in 0..LINES {
        clock += numbers.below(200);
        if open.len() < 25 && (open.is_empty() || numbers.below(100) < 51) {
            let method = callee(open.last().copied().unwrap_or(0), numbers.below(3));
            open.push(method);
            writeln!(text, "{clock} > {}", name(method)).expect("memory");
        } else {
            writeln!(text, "{clock} < {}", name(open.pop().unwrap_or(0))).expect("memory");
        }
    }
    text
}

/// Stacks of up to `depth` frames; every method may call `ways` others, but mostly calls one.
fn stacks(numbers: &mut Numbers, depth: usize, ways: usize, lines: usize) -> Vec<String> {
    let stack = |_| {
        let (mut text, mut method) = (String::from("[main tid=1]"), 0);
        for _ in 0..1 + numbers.below(depth) {
            method = callee(method, if numbers.below(4) == 0 { numbers.below(ways) } else { 0 });
            text.push(';');
            text.push_str(&name(method));
        }
        write!(text, " {}", 1 + numbers.below(99)).expect("memory");
        text
    };
    (0..lines).map(stack).collect()
}

fn measure(title: &str, text: &str) {
    let mut best = Duration::MAX;
    let mut nodes = 0;
    for _ in 0..5 {
        let start = Instant::now();
        nodes = input::read(text.as_bytes()).expect("sound input").model.nodes().len();
        best = best.min(start.elapsed());
    }
    let (lines, seconds) = (text.lines().count() as f64, best.as_secs_f64());
    let (speed, rate) = (lines / seconds / 1e6, text.len() as f64 / seconds / 1e6);
    println!("{title:<28} {speed:7.2} M lines/s {rate:7.0} MB/s {nodes:9} contexts");
}

fn main() {
    let mut numbers = Numbers(17);
    measure("events", &events(&mut numbers));
    let flat = stacks(&mut numbers, 3, 500, LINES);
    measure("folded, flat", &flat.join("\n"));
    let mut deep = stacks(&mut numbers, 40, 3, LINES / 4);
    measure("folded, deep, in any order", &deep.join("\n"));
    deep.sort_unstable();
    measure("folded, deep, sorted", &deep.join("\n"));
}
