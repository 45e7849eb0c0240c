use instrument_rewriter::rewrite::*;
use std::io::{Read, Write};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let transforms = Transforms { method_events: args[3].contains('m'), allocation: args[3].contains('a') };
    let mut zip =
        zip::ZipArchive::new(std::io::BufReader::new(std::fs::File::open(&args[1]).unwrap())).unwrap();
    let mut all: Vec<(String, Vec<u8>)> = vec![];
    for i in 0..zip.len() {
        let mut f = zip.by_index(i).unwrap();
        let mut b = vec![];
        f.read_to_end(&mut b).unwrap();
        all.push((f.name().unwrap().to_string(), b));
    }
    let mut rw = ClassRewriter::new(transforms);
    let mut outz = zip::ZipWriter::new(std::fs::File::create(&args[2]).unwrap());
    let opt = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut id = 0u32;
    let (mut n, mut skips) = (0, 0);
    for (name, b) in &all {
        let mut out = vec![];
        if name.ends_with(".class") {
            match rw.rewrite(
                b,
                |_| {
                    id += 1;
                    n += 1;
                    Choice::Rewrite(id)
                },
                &mut out,
            ) {
                Ok(Outcome::Rewritten) => {}
                Ok(o) => {
                    if !matches!(o, Outcome::Unchanged) {
                        println!("{name}: {o:?}");
                    }
                    out = b.clone()
                }
                Err(e) => {
                    println!("{name}: {e}");
                    out = b.clone()
                }
            }
            for r in rw.reports() {
                if matches!(r.event, MethodEvent::Skipped(_)) {
                    skips += 1;
                    println!("{name}#{} {:?}", r.index, r.event);
                }
            }
        } else {
            out = b.clone();
        }
        if name.ends_with('/') {
            let _ = outz.add_directory(name.as_str(), opt);
        } else if outz.start_file(name.as_str(), opt).is_ok() {
            outz.write_all(&out).unwrap();
        }
    }
    outz.finish().unwrap();
    println!("{n} methods, {skips} skipped");
    let classes: Vec<&Vec<u8>> = all.iter().filter(|c| c.0.ends_with(".class")).map(|c| &c.1).collect();
    let total: usize = classes.iter().map(|c| c.len()).sum();
    let mut out = Vec::with_capacity(1 << 20);
    let mut times = vec![];
    for _ in 0..20 {
        let t = std::time::Instant::now();
        let mut id = 0;
        for c in &classes {
            out.clear();
            let _ = rw.rewrite(
                c,
                |_| {
                    id += 1;
                    Choice::Rewrite(id)
                },
                &mut out,
            );
        }
        times.push(t.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{} classes {total} bytes best {:.1} MB/s median {:.1} MB/s",
        classes.len(),
        total as f64 / times[0] / 1e6,
        total as f64 / times[10] / 1e6
    );
}
