//! Real jars through the built binary: identity without a transform; rewritten jars link, say what was skipped,
//! mean the same to an independent oracle, and are the same bytes every time.
//!
//! A small part of the corpus in every run; all of it, and all transforms on the JDK, with
//! `INSTRUMENT_CORPUS_FULL=1`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use instrument_rewriter::class_file::{ClassFile, mutf8};
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Outcome, Transforms};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{self, Jdk, Run, join};
use instrument_tests::shared;
use instrument_tests::subject::{self, ReportLine};

const TRANSFORMS: [&str; 3] = ["method-events", "allocation", "method-events,allocation"];

/// Those of this run: what one of them does alone is a part of what both do, and of [`LIBRARY_CALLS`].
fn transforms() -> &'static [&'static str] {
    if Corpus::full() { &TRANSFORMS[..] } else { &TRANSFORMS[2..] }
}

/// One more: calls into what is not part of the jar.
const LIBRARY_CALLS: &str = "method-events,allocation --library-calls=top-level";

/// A jar under test, with what belongs on its class path.
struct Subject {
    name: String,
    jar: PathBuf,
    class_path: Vec<PathBuf>,
    java: u32,
}

/// Entry to `ok`, or to the error that linking its class raised.
type Links = BTreeMap<String, String>;

fn subjects(corpus: &Corpus) -> Result<Vec<Subject>> {
    let selected = corpus.selected();
    let names: Vec<&str> = selected
        .iter()
        .flat_map(|jar| std::iter::once(&jar.name).chain(&jar.with))
        .map(String::as_str)
        .collect();
    corpus.fetch(&names)?;
    let mut subjects = Vec::new();
    for jar in selected {
        subjects.push(Subject {
            name: jar.name.clone(),
            jar: corpus.path(&jar.name)?,
            class_path: corpus.class_path(jar)?,
            java: jar.java,
        });
    }
    if Corpus::full() {
        for jar in Corpus::distribution_jars()? {
            let name = format!("distribution-{}", jar.file_stem().unwrap_or_default().to_string_lossy());
            subjects.push(Subject { name, jar, class_path: Vec::new(), java: 8 });
        }
    }
    Ok(subjects)
}

/// Runs `check` for each item on all processors; panics with every fault that was found.
fn all<T: Sync>(
    items: &[T],
    name: impl Fn(&T) -> String + Sync,
    check: impl Fn(&T) -> Result<Vec<String>> + Sync,
) {
    assert!(!items.is_empty());
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(String::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = check(item).unwrap_or_else(|error| vec![format!("{error:#}")]);
                    let mut faults = faults.lock().unwrap();
                    for fault in found.iter().take(20) {
                        let _ = writeln!(faults, "{}: {fault}", name(item));
                    }
                    if found.len() > 20 {
                        let _ = writeln!(faults, "{}: and {} more", name(item), found.len() - 20);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "\n{faults}");
}

fn is_signed(jar: &Path) -> Result<bool> {
    let archive = zip::ZipArchive::new(fs::File::open(jar)?)?;
    Ok(archive.file_names().flatten().any(|name| name.starts_with("META-INF/") && name.ends_with(".SF")))
}

fn lines(output: std::process::Output) -> Result<Vec<Vec<String>>> {
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().map(|line| line.split('\t').map(String::from).collect()).collect())
}

fn links(jdk: &Jdk, jar: &Path, class_path: &[PathBuf]) -> Result<Links> {
    let classes = jdk.compile(&["JarLinkCheck.java"], &[])?;
    let mut java = jdk.brief_java();
    java.args(["-Xss8m", "-cp"]).arg(classes).arg("JarLinkCheck").arg(jar).args(class_path);
    lines(java.run_quietly()?)?
        .into_iter()
        .map(|line| match <[String; 2]>::try_from(line) {
            Ok([entry, result]) => Ok((entry, result)),
            Err(line) => anyhow::bail!("JarLinkCheck said {line:?}"),
        })
        .collect()
}

/// The same of a jar as it is, which several tests ask for.
fn links_before(jdk: &Jdk, subject: &Subject) -> Result<Links> {
    let name = format!("links-{}-{}", jdk.version, subject.name);
    let folder = shared::folder(&name, |folder| {
        let links = links(jdk, &subject.jar, &subject.class_path)?;
        Ok(fs::write(folder.join("links.json"), serde_json::to_vec(&links)?)?)
    });
    Ok(serde_json::from_slice(&fs::read(folder.join("links.json"))?)?)
}

/// The classes that linked before and do not now, or fail in another way than before.
fn new_errors(before: &Links, after: &Links) -> Vec<String> {
    let mut errors = Vec::new();
    for (entry, result) in after {
        let was = before.get(entry).map_or("ok", String::as_str);
        let error = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
        // Which missing type is named, or where verification stops, depends on what the verifier meets first.
        let same = result == was || (error(result) == error(was) && !result.contains("instrument/"));
        if result != "ok" && !same {
            errors.push(format!("{entry}: {result} (was: {was})"));
        }
    }
    errors.extend(
        before.keys().filter(|entry| !after.contains_key(*entry)).map(|entry| format!("{entry}: gone")),
    );
    errors
}

/// What the oracle says: faults, and the methods with code that have not changed.
struct Opinion {
    faults: Vec<String>,
    unchanged: Vec<(String, String, String)>,
    methods: u64,
    changed: u64,
}

fn oracle(corpus: &Corpus, original: &Path, rewritten: &Path) -> Result<Opinion> {
    let jdk = Jdk::default_kit()?;
    let mut class_path = vec![corpus.path("asm-tool")?, corpus.path("asm-tree-tool")?];
    let classes = jdk.compile(&["JarOracle.java", "CodeOracle.java", "RawClass.java"], &class_path)?;
    class_path.push(classes);
    let mut java = jdk.brief_java();
    java.arg("-cp").arg(join(&class_path)).arg("JarOracle").arg(original).arg(rewritten);
    let mut opinion = Opinion { faults: Vec::new(), unchanged: Vec::new(), methods: 0, changed: 0 };
    let mut finished = false;
    for line in lines(java.run_quietly()?)? {
        match line.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["fault", entry, fault] => opinion.faults.push(format!("{entry}: {fault}")),
            ["unchanged", entry, name, descriptor] => {
                opinion.unchanged.push((entry.into(), name.into(), descriptor.into()));
            }
            ["checked", _, methods, changed] => {
                (opinion.methods, opinion.changed) = (methods.parse()?, changed.parse()?);
                finished = true;
            }
            _ => opinion.faults.push(format!("the oracle said {line:?}")),
        }
    }
    ensure!(finished, "the oracle did not finish");
    Ok(opinion)
}

/// Fewer than 0.1 % of the methods may be left alone by `method-events`, and the report names each with its reason.
fn skipped(opinion: &Opinion, report: &[ReportLine]) -> Vec<String> {
    let mut faults = Vec::new();
    let left_alone = opinion.methods - opinion.changed;
    if left_alone * 1000 > opinion.methods.max(1000) {
        faults.push(format!("{left_alone} of {} methods are not rewritten", opinion.methods));
    }
    let named: HashSet<(&str, &str, &str)> = report
        .iter()
        .filter(|line| line.outcome == "skipped" && !line.reason.is_empty())
        .map(|line| (line.entry.as_str(), line.method.as_str(), line.descriptor.as_str()))
        .collect();
    for (entry, name, descriptor) in &opinion.unchanged {
        // A line about the class speaks for all of its methods.
        if !named.contains(&(entry, name, descriptor)) && !named.contains(&(entry, "", "")) {
            faults.push(format!("{entry}: {name}{descriptor} was skipped without a word in the report"));
        }
    }
    faults
}

#[test]
fn without_a_transform_a_jar_is_the_same_bytes() -> Result<()> {
    let corpus = Corpus::open()?;
    let work = tempfile::tempdir()?;
    let mut jars: Vec<PathBuf> = subjects(&corpus)?.into_iter().map(|subject| subject.jar).collect();
    jars.extend(corpus.jdk_modules(Jdk::default_kit()?)?);
    let name = |jar: &PathBuf| jar.file_name().unwrap_or_default().to_string_lossy().into_owned();
    all(&jars, name, |jar| {
        let output = work.path().join(name(jar));
        subject::rewrite(jar, &output, &["--exclude", "**"])?;
        let same = fs::read(jar)? == fs::read(&output)?;
        let faults = if same { Vec::new() } else { differing_entries(jar, &output)? };
        fs::remove_file(&output)?;
        Ok(faults)
    });
    Ok(())
}

fn differing_entries(before: &Path, after: &Path) -> Result<Vec<String>> {
    let mut before = zip::ZipArchive::new(fs::File::open(before)?)?;
    let mut after = zip::ZipArchive::new(fs::File::open(after)?)?;
    let mut faults = vec!["the jar differs".to_string()];
    for index in 0..before.len() {
        let mut entry = before.by_index(index)?;
        let name = entry.name()?.into_owned();
        let mut was = Vec::new();
        std::io::copy(&mut entry, &mut was)?;
        let mut is = Vec::new();
        match after.by_name(&name) {
            Ok(mut entry) => std::io::copy(&mut entry, &mut is)?,
            Err(error) => {
                faults.push(format!("{name}: {error}"));
                continue;
            }
        };
        if was != is {
            faults.push(format!("{name}: the bytes differ"));
        }
    }
    Ok(faults)
}

#[test]
fn rewritten_jars_link_and_mean_the_same() -> Result<()> {
    link_and_mean_the_same(0)
}

#[test]
fn other_rewritten_jars_link_and_mean_the_same() -> Result<()> {
    link_and_mean_the_same(1)
}

/// Every second jar of the corpus: all of them are too much for one test.
fn link_and_mean_the_same(first: usize) -> Result<()> {
    let corpus = Corpus::open()?;
    let work = tempfile::tempdir()?;
    let subjects: Vec<Subject> = subjects(&corpus)?.into_iter().skip(first).step_by(2).collect();
    all(
        &subjects,
        |subject| subject.name.clone(),
        |subject| {
            let mut faults = Vec::new();
            let jdk = Jdk::at_least(subject.java)?;
            let before = match &jdk {
                Some(jdk) => Some(links_before(jdk, subject)?),
                None => {
                    eprintln!("{}: not linked, no Java {} on this machine", subject.name, subject.java);
                    None
                }
            };
            let signed = is_signed(&subject.jar)?;
            if signed {
                let output = work.path().join(format!("{}-refused.jar", subject.name));
                let refused = subject::call()?.arg(&subject.jar).arg("-o").arg(&output).capture()?;
                let said = String::from_utf8_lossy(&refused.stderr);
                if refused.status.code() != Some(1) || output.exists() || !said.contains("--strip-signatures")
                {
                    faults.push(format!("signed, but not refused: {} {said}", refused.status));
                }
            }
            let alone = if Corpus::full() { &TRANSFORMS[..] } else { &[] };
            for &transform in alone.iter().chain(&[LIBRARY_CALLS]) {
                let output = work.path().join(format!("{}-{transform}.jar", subject.name));
                let mut options = vec!["--transform"];
                options.extend(transform.split(' '));
                options.extend(signed.then_some("--strip-signatures"));
                let report = subject::rewrite(&subject.jar, &output, &options)?;
                if let (Some(jdk), Some(before)) = (&jdk, &before) {
                    let errors = new_errors(before, &links(jdk, &output, &subject.class_path)?);
                    faults.extend(errors.iter().map(|error| format!("{transform}: {error}")));
                }
                let opinion = oracle(&corpus, &subject.jar, &output)?;
                faults.extend(opinion.faults.iter().map(|fault| format!("{transform}: {fault}")));
                if transform != "allocation" {
                    faults.extend(skipped(&opinion, &report));
                } else if opinion.changed == 0 && opinion.methods > 100 {
                    faults.push("no allocation site was found".to_string());
                }
                fs::remove_file(&output)?;
            }
            Ok(faults)
        },
    );
    Ok(())
}

/// The lines of each method's code, where there are several.
fn lines_of_methods(class: &ClassFile<'_>) -> Result<Vec<Vec<u16>>> {
    let mut all = Vec::new();
    let mut methods = class.methods();
    while let Some(method) = methods.next()? {
        let Some(code) = method.code(&class.pool)? else { continue };
        let mut lines = Vec::new();
        let mut attributes = code.attributes;
        while let Some(attribute) = attributes.next()? {
            if class.pool.utf8(attribute.name_index)? == b"LineNumberTable" {
                let rows = attribute.info[2..].chunks_exact(4);
                lines.extend(rows.map(|row| u16::from_be_bytes([row[2], row[3]])));
            }
        }
        lines.sort_unstable();
        lines.dedup();
        all.extend((lines.len() > 1).then_some(lines));
    }
    Ok(all)
}

/// Rewrites every class with all transforms and, somewhere in every method, a code region. The numbers of regions that are
/// timed and refused.
fn time_regions(jar: &Path, output: &Path) -> Result<(usize, usize)> {
    let mut zip = zip::ZipArchive::new(fs::File::open(jar)?)?;
    let mut out = zip::ZipWriter::new(fs::File::create(output)?);
    let options = zip::write::SimpleFileOptions::default();
    let (mut timed, mut refused) = (0, 0);
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let name = entry.name()?.into_owned();
        let mut bytes = Vec::new();
        std::io::copy(&mut entry, &mut bytes)?;
        if entry.is_dir() {
            continue;
        }
        if let Ok(class) = ClassFile::parse(&bytes) {
            let of = mutf8::escape(class.name()?).replace('/', ".");
            let pick = |(at, lines): (usize, Vec<u16>)| {
                // Any two of its lines, differing from method to method.
                let (a, b) = (at * 7 % lines.len(), at * 11 % lines.len());
                Region::parse(&format!("{of}:{}-{}", lines[a.min(b)], lines[a.max(b)])).ok()
            };
            let regions: Vec<Region> =
                lines_of_methods(&class)?.into_iter().enumerate().filter_map(pick).collect();
            let mut rewriter = ClassRewriter::with_regions(Transforms::ALL, regions.into());
            let mut new = Vec::new();
            let outcome =
                rewriter.rewrite(&bytes, |method| Choice::Rewrite(method.index.into()), &mut new)?;
            let sound = rewriter.region_reports().iter().filter(|report| report.outcome.is_ok()).count();
            timed += sound;
            refused += rewriter.region_reports().len() - sound;
            if outcome == Outcome::Rewritten {
                bytes = new;
            }
        }
        out.start_file(name, options)?;
        out.write_all(&bytes)?;
    }
    out.finish()?;
    Ok((timed, refused))
}

#[test]
fn classes_with_code_regions_link() -> Result<()> {
    let corpus = Corpus::open()?;
    let work = tempfile::tempdir()?;
    let runtime = machine::root().join("runtime-java/classes");
    let subjects = subjects(&corpus)?;
    all(
        &subjects,
        |subject| subject.name.clone(),
        |subject| {
            let Some(jdk) = Jdk::at_least(subject.java)? else { return Ok(Vec::new()) };
            let class_path: Vec<PathBuf> = subject.class_path.iter().chain([&runtime]).cloned().collect();
            let output = work.path().join(format!("{}.jar", subject.name));
            let (timed, refused) = time_regions(&subject.jar, &output)?;
            println!("{}: {timed} regions, {refused} refused", subject.name);
            let before = links_before(&jdk, subject)?;
            let mut faults = new_errors(&before, &links(&jdk, &output, &class_path)?);
            // Two lines taken at random often lie in different branches.
            if 2 * timed < refused {
                faults.push(format!("{refused} regions are refused and only {timed} timed"));
            }
            fs::remove_file(&output)?;
            Ok(faults)
        },
    );
    Ok(())
}

#[test]
fn the_same_input_gives_the_same_bytes() -> Result<()> {
    let corpus = Corpus::open()?;
    let work = tempfile::tempdir()?;
    all(
        &subjects(&corpus)?,
        |subject| subject.name.clone(),
        |subject| {
            let strip = is_signed(&subject.jar)?.then_some("--strip-signatures");
            let mut sums = Vec::new();
            for (run, threads) in ["-j1", "-j2", "-j2"].into_iter().enumerate() {
                // Another directory each time: no path may find its way into the output.
                let directory = work.path().join(format!("{}-{run}", subject.name));
                fs::create_dir(&directory)?;
                let output = directory.join("out.jar");
                let options =
                    ["--transform", "method-events,allocation", "--library-calls", "top-level", threads];
                subject::rewrite(
                    &subject.jar,
                    &output,
                    &options.into_iter().chain(strip).collect::<Vec<_>>(),
                )?;
                sums.push(instrument_tests::corpus::sha256(&output)?);
                fs::remove_dir_all(&directory)?;
            }
            let same = sums.iter().all(|sum| *sum == sums[0]);
            Ok(if same { Vec::new() } else { vec![format!("-j1, -j2, -j2 gave {sums:?}")] })
        },
    );
    Ok(())
}

/// How the names of this run's modules begin: all others are for the long one.
fn module_prefix() -> &'static str {
    if Corpus::full() { "" } else { "java.base" }
}

/// Links every class of the modules of this run, patched with `patches`; class to result.
fn module_links(patches: &[PathBuf], stub: Option<&Path>) -> Result<Links> {
    let jdk = Jdk::default_kit()?;
    let classes = jdk.compile(&["ModuleLinkCheck.java"], &[])?;
    let mut java = jdk.brief_java();
    java.args(["-Xverify:all", "-Xss8m", "--add-modules", "ALL-SYSTEM"]);
    let mut modules = vec!["ALL-UNNAMED".to_string()];
    for patch in patches {
        let module = patch.file_stem().context("a module jar")?.to_string_lossy().into_owned();
        let mut path = join(&[patch]);
        if let (Some(stub), "java.base") = (stub, module.as_str()) {
            // The runtime proper needs a booted VM; here only linking counts, so the probes do nothing.
            path = join(&[patch.as_path(), stub]);
        }
        java.arg("--patch-module").arg(format!("{module}={path}"));
        modules.push(module);
    }
    if stub.is_some() {
        modules.retain(|module| module != "java.base");
        java.arg("--add-exports").arg(format!("java.base/instrument.runtime={}", modules.join(",")));
    }
    // A VM that crashes leaves its log in the working directory.
    java.arg("-cp").arg(classes).args(["ModuleLinkCheck", module_prefix()]).current_dir(machine::target());
    let output = java.run_quietly()?;
    Ok(lines(output)?
        .into_iter()
        .filter(|line| line.len() == 2)
        .map(|line| (line[0].clone(), line[1].clone()))
        .collect())
}

#[test]
fn modules_of_the_jdk_link() -> Result<()> {
    let corpus = Corpus::open()?;
    let jdk = Jdk::default_kit()?;
    let mut jars = corpus.jdk_modules(jdk)?;
    jars.retain(|jar| {
        jar.file_name().is_some_and(|name| name.to_string_lossy().starts_with(module_prefix()))
    });
    let stub = jdk.compile(&["stub/ProfilerRuntime.java", "stub/HeapProxy.java"], &[])?;
    let (linked, calling) = if Corpus::full() { (20_000, 10_000) } else { (5_000, 3_000) };
    let before = module_links(&[], None)?;
    assert!(before.values().filter(|result| *result == "ok").count() > linked, "{} classes", before.len());
    for transform in transforms() {
        let work = tempfile::tempdir()?;
        let changed = AtomicUsize::new(0);
        let output = |jar: &PathBuf| work.path().join(jar.file_name().expect("a jar has a name"));
        all(
            &jars,
            |jar| jar.display().to_string(),
            |jar| {
                let report =
                    subject::rewrite(jar, &output(jar), &["--transform", *transform, "--runtime", "none"])?;
                let opinion = oracle(&corpus, jar, &output(jar))?;
                changed.fetch_add(opinion.changed as usize, Ordering::Relaxed);
                let mut faults = opinion.faults.clone();
                if *transform != "allocation" {
                    faults.extend(skipped(&opinion, &report));
                }
                Ok(faults)
            },
        );
        let patches: Vec<PathBuf> = jars.iter().map(output).collect();
        let mut after = module_links(&patches, Some(&stub))?;
        let patched = after.values().filter(|result| result.starts_with('+')).count();
        for result in after.values_mut() {
            *result = result.trim_start_matches('+').to_string();
        }
        let errors = new_errors(&before, &after);
        assert!(
            errors.is_empty(),
            "{transform}: {} new errors\n{}",
            errors.len(),
            errors[..errors.len().min(40)].join("\n")
        );
        assert!(
            patched > calling,
            "only {patched} linked classes call the runtime, {changed:?} methods were changed"
        );
    }
    Ok(())
}

/// The checks themselves: a class with a maximum stack that is too small must not pass them.
#[test]
fn the_checks_find_what_is_broken() -> Result<()> {
    let corpus = Corpus::open()?;
    let jdk = Jdk::default_kit()?;
    let work = tempfile::tempdir()?;
    let source = work.path().join("Sound.java");
    fs::write(&source, "class Sound { static int twice(int a) { return a + a; } }")?;
    jdk.tool("javac").arg("-d").arg(work.path()).arg(&source).run_quietly()?;
    let sound = fs::read(work.path().join("Sound.class"))?;
    // max_stack 2, max_locals 1, code length 4: iload_0, iload_0, iadd, ireturn.
    let code = [0, 2, 0, 1, 0, 0, 0, 4, 0x1a, 0x1a, 0x60, 0xac];
    let at =
        sound.windows(code.len()).position(|window| window == code).context("javac compiled otherwise")?;
    let mut shallow = sound.clone();
    shallow[at + 1] = 1;
    let mut subtracts = sound.clone();
    subtracts[at + 10] = 0x64;
    let jar = |name: &str, class: &[u8]| -> Result<PathBuf> {
        let path = work.path().join(name);
        let mut zip = zip::ZipWriter::new(fs::File::create(&path)?);
        zip.start_file("Sound.class", zip::write::SimpleFileOptions::default())?;
        std::io::Write::write_all(&mut zip, class)?;
        zip.finish()?;
        Ok(path)
    };
    let (sound, shallow, subtracts) =
        (jar("sound.jar", &sound)?, jar("shallow.jar", &shallow)?, jar("subtracts.jar", &subtracts)?);
    let before = links(jdk, &sound, &[])?;
    assert_eq!(before["Sound.class"], "ok");
    let errors = new_errors(&before, &links(jdk, &shallow, &[])?);
    assert!(errors.len() == 1 && errors[0].contains("java.lang.VerifyError"), "{errors:?}");
    assert!(new_errors(&before, &links(jdk, &subtracts, &[])?).is_empty());

    assert!(oracle(&corpus, &sound, &sound)?.faults.is_empty());
    for (broken, fault) in [(&shallow, "max_stack is 1"), (&subtracts, "had opcode 96, has 100")] {
        let opinion = oracle(&corpus, &sound, broken)?;
        assert!(opinion.faults.len() == 1 && opinion.faults[0].contains(fault), "{:?}", opinion.faults);
    }
    // Left alone without a word in the report.
    assert!(!skipped(&oracle(&corpus, &sound, &sound)?, &[]).is_empty());
    Ok(())
}
