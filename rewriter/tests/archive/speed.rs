//! How long the engine takes, against a loop that only inflates and deflates the same classes.
//!
//! `cargo test --release -p instrument-rewriter --test main archive::speed -- --ignored --nocapture`, with
//! `ARCHIVE_SPEED_JAR` naming a jar; the default is Guava where Debian puts it.

use std::time::Instant;

use instrument_rewriter::archive::{ClassRewriter, Layout, Location, NewEntry, Options, rewrite};

use crate::archive::inspect::entries;

/// Does nothing itself: "rewrites" every class to the same bytes, or none.
struct Lean {
    rewrites: bool,
}

impl ClassRewriter for Lean {
    type Plan = ();
    fn plan(&self, _: &Location<'_>, _: &[u8]) {}
    fn admit(&mut self, _: &Location<'_>, _: &mut (), _: &[u8]) {}
    fn rewrite(&self, _: &Location<'_>, _: &(), class: &[u8], out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(class);
        self.rewrites
    }
    fn done(&mut self, _: &Location<'_>, _: (), _: bool) {}
    fn extra_entries(&mut self, _: &Layout) -> Vec<NewEntry> {
        Vec::new()
    }
}

fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<_> = (0..7)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
#[ignore = "a measurement"]
fn pass_through() {
    let path = std::env::var("ARCHIVE_SPEED_JAR").unwrap_or("/usr/share/java/guava.jar".into());
    let Ok(input) = std::fs::read(&path) else { panic!("no {path}: name a jar in ARCHIVE_SPEED_JAR") };
    let is_class = |name: &[u8]| name.ends_with(b".class");
    let classes: Vec<_> = entries(&input).into_iter().filter(|e| is_class(&e.name)).collect();
    let bytes: usize = classes.iter().map(|e| e.content.len()).sum();
    println!("{path}: {} bytes, {} classes, {bytes} class bytes", input.len(), classes.len());

    let mut out: Vec<u8> = Vec::with_capacity(input.len() * 2);
    let copy = median(|| {
        out.clear();
        out.extend_from_slice(std::hint::black_box(&input));
    });
    println!("memory copy                 {copy:8.2} ms");
    let level = libdeflater::CompressionLvl::new(6).unwrap();
    let floor = median(|| {
        let (mut inflate, mut deflate) =
            (libdeflater::Decompressor::new(), libdeflater::Compressor::new(level));
        let (mut plain, mut packed) = (vec![0; 1 << 20], vec![0; 2 << 20]);
        for e in &classes {
            let raw = &input[e.data..e.data + e.central_sizes.1 as usize];
            let content = if e.method == 8 {
                let len = inflate.deflate_decompress(raw, &mut plain).unwrap();
                &plain[..len]
            } else {
                raw
            };
            assert_eq!(crc32fast::hash(content), e.central_sizes.0);
            if e.method == 8 {
                deflate.deflate_compress(content, &mut packed).unwrap();
            }
        }
    });
    println!("inflate + CRC + deflate     {floor:8.2} ms, 1 thread");
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (what, rewrites) in [("untouched", false), ("all rewritten", true)] {
            let time = median(|| {
                out.clear();
                let options = Options::default();
                let mut lean = Lean { rewrites };
                let outcome =
                    pool.install(|| rewrite("x.jar", &input, &mut out, &mut lean, &options)).unwrap();
                assert_eq!(outcome.rewritten > 0, rewrites);
            });
            println!("{what:14} {threads} thread(s)  {time:8.2} ms, {:.2} of the floor", time / floor);
        }
    }
}

/// Peak memory of this process after one run with every class rewritten; to be run alone.
#[test]
#[ignore = "a measurement"]
fn peak_memory() {
    let path = std::env::var("ARCHIVE_SPEED_JAR").unwrap_or("/usr/share/java/guava.jar".into());
    let Ok(input) = std::fs::read(&path) else { panic!("no {path}: name a jar in ARCHIVE_SPEED_JAR") };
    let mut lean = Lean { rewrites: true };
    let done = rewrite("x.jar", &input, &mut std::io::sink(), &mut lean, &Options::default());
    let done = done.map(|outcome| outcome.rewritten);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown here");
    println!("{path}: input {} kB, {done:?}, {peak}", input.len() / 1024);
}
