//! The in-memory rewriter on one thread: class bytes in, class bytes out.
//!
//! `INSTRUMENT_BENCH_JARS=a.jar:b.jar cargo bench -p instrument-rewriter` prints MB/s of class bytes and
//! classes/s, best and median of the loops, per jar and set of transforms. Without the variable it takes
//! Guava from where Debian puts it, or says so. An argument picks the work whose name contains it.

use instrument_rewriter::archive::{self, Limits};
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Transforms};
use instrument_rewriter::survey::{Survey, SurveyBuffers};
use std::hint::black_box;
use std::time::Instant;

const LOOPS: usize = 60;

fn main() {
    let jars =
        std::env::var("INSTRUMENT_BENCH_JARS").unwrap_or_else(|_| "/usr/share/java/guava.jar".to_owned());
    println!("{:<32} {:<22} {:>8} {:>8} {:>10}", "jar", "work", "best", "median", "classes/s");
    println!("{:<32} {:<22} {:>8} {:>8} {:>10}", "", "", "MB/s", "MB/s", "best");
    for jar in jars.split(':') {
        let Ok(bytes) = std::fs::read(jar) else {
            println!("{jar}: not there; set INSTRUMENT_BENCH_JARS");
            continue;
        };
        let mut classes = Vec::new();
        let read = archive::visit_classes(jar, &bytes, &Limits::default(), &mut |class| {
            classes.push(class.bytes.to_vec());
            std::ops::ControlFlow::Continue(())
        });
        if let Err(error) = read {
            println!("{error}");
            continue;
        }
        let name = jar.rsplit('/').next().unwrap_or(jar);
        let both = Transforms { method_events: true, allocation: true, ..Transforms::NONE };
        let events = Transforms { allocation: false, ..both };
        let works = [
            ("no transform", Transforms::default(), false),
            ("method-events", events, false),
            ("m.-events, invalid left", events, true),
            ("allocation", Transforms { method_events: false, ..both }, false),
            ("both", both, false),
        ];
        for (work, transforms, leaves_invalid) in works {
            let mut rewriter = ClassRewriter::new(transforms);
            if leaves_invalid {
                rewriter.leave_invalid();
            }
            let mut out = Vec::with_capacity(1 << 20);
            measure(name, work, &classes, || {
                let mut id = 0;
                for class in &classes {
                    out.clear();
                    let outcome = rewriter.rewrite(
                        class,
                        |_| {
                            id += 1;
                            Choice::Rewrite(id)
                        },
                        &mut out,
                    );
                    black_box((outcome.is_ok(), &out));
                }
            });
        }
        let mut buffers = SurveyBuffers::default();
        measure(name, "survey (for the ids)", &classes, || {
            for class in &classes {
                black_box(Survey::of(class, &mut buffers).is_ok());
            }
        });
    }
}

/// The first argument that is no option of `cargo bench`.
fn picked(work: &str) -> bool {
    std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"))
        .is_none_or(|pick| work.contains(&pick))
}

fn measure(jar: &str, work: &str, classes: &[Vec<u8>], mut run: impl FnMut()) {
    if !picked(work) {
        return;
    }
    let total: usize = classes.iter().map(Vec::len).sum();
    let loops = (LOOPS * 6_000_000 / total.max(1)).clamp(5, LOOPS);
    let mut seconds: Vec<f64> = (0..loops)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let (best, median) = (seconds[0], seconds[seconds.len() / 2]);
    let speed = |seconds: f64| total as f64 / seconds / 1e6;
    let rate = classes.len() as f64 / best;
    println!("{jar:<32} {work:<22} {:>8.0} {:>8.0} {rate:>10.0}", speed(best), speed(median));
}
