//! How fast classes are judged: `throughput JAR JAVA_HOME`, on one core, the classes in memory.

use instrument_rewriter::archive::{Limits, visit_classes};
use instrument_verifier::Verifier;
use instrument_verifier::format::Jvm;
use instrument_verifier::hierarchy::{ClassPath, Summary};
use instrument_verifier::jdk::Jdk;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rounds that are measured; the fastest counts.
const ROUNDS: usize = 20;

struct Places {
    classes: HashMap<Box<[u8]>, Arc<Summary>>,
    jdk: Jdk,
}

impl ClassPath for Places {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        self.classes.get(name).cloned().or_else(|| self.jdk.find(name))
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, jar, home] = &arguments[..] else { panic!("usage: throughput JAR JAVA_HOME") };
    let mut classes: Vec<Vec<u8>> = Vec::new();
    let bytes = std::fs::read(jar).expect("the jar can be read");
    visit_classes(jar, &bytes, &Limits::default(), &mut |class| {
        classes.push(class.bytes.to_vec());
        ControlFlow::Continue(())
    })
    .expect("an archive");
    let megabytes = classes.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    let jdk = Jdk::open(Path::new(home)).expect("a JDK");
    let jvm = Jvm { newest_major: jdk.newest_major, preview: false };
    let mut places = Places { classes: HashMap::new(), jdk };
    let mut fastest = [Duration::MAX; 2];
    let mut faults = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let summaries: Vec<_> = classes.iter().filter_map(|bytes| Summary::parse(bytes)).collect();
        places.classes = summaries.into_iter().map(|class| (class.name.clone(), Arc::new(class))).collect();
        fastest[0] = fastest[0].min(start.elapsed());
        let start = Instant::now();
        let mut verifier = Verifier::new(&places, jvm);
        faults = classes.iter().map(|bytes| verifier.verify(bytes).faults.len()).sum();
        fastest[1] = fastest[1].min(start.elapsed());
    }
    let rate = |time: Duration| megabytes / time.as_secs_f64();
    let together = rate(fastest[0] + fastest[1]);
    println!(
        "{} classes, {megabytes:.1} MB, {faults} faults: reading the hierarchy {:.0} MB/s, judging {:.0} MB/s, both {together:.0} MB/s",
        classes.len(),
        rate(fastest[0]),
        rate(fastest[1])
    );
}
