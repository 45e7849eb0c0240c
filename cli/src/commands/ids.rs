//! `instrument ids`: look up methods in an id map, be it a file or the one inside an instrumented archive or directory.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result, anyhow, bail};
use instrument_artifacts::source::Tree;
use instrument_messages::{Listener, usage};
use instrument_names::id_map::{ENTRY_NAME, Entry, IdMap, gz};
use instrument_names::nearest::did_you_mean;
use instrument_names::pattern::MethodQuery;
use instrument_names::printable::printable;
use instrument_rewriter::class_file::mutf8::escape as display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// More than any jar's map: the 170,000 methods of the Kotlin compiler take 17 MB.
const LARGEST_MAP: usize = 1 << 30;

/// List or look up method ids
///
/// For example: instrument ids app-instrumented.jar 17 'com.acme.Foo#*'
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code 1 if nothing is found.")]
pub(crate) struct Opts {
    /// An id map, or an instrumented jar or directory that holds one
    file: PathBuf,

    /// Ids, or patterns as for `rewrite --include`; without any, the whole map is listed
    #[arg(value_name = "ID|PATTERN")]
    queries: Vec<String>,

    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
}

enum Query {
    Id(u32),
    Pattern(MethodQuery),
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let queries = opts.queries.iter().map(|query| parse(query)).collect::<Result<Vec<_>>>()?;
    let name = || opts.file.display().to_string();
    let text = read_map(&opts.file).with_context(name)?;
    let map = IdMap::parse(&text).map_err(|error| anyhow!("{}:{}: {}", name(), error.line, error.kind))?;
    let mut found = vec![false; queries.len()];
    let mut out = BufWriter::new(std::io::stdout().lock());
    for entry in map.iter() {
        let mut wanted = queries.is_empty();
        for (query, found) in queries.iter().zip(&mut found) {
            if query.matches(&entry) {
                wanted = true;
                *found = true;
            }
        }
        if wanted {
            if opts.json { write_json(&entry, &mut out) } else { write_text(&entry, &mut out) }?;
        }
    }
    out.flush()?;
    let missing = found.iter().zip(&opts.queries).filter(|(found, _)| !**found);
    let missing: Vec<&str> = missing.map(|(_, query)| query.as_str()).collect();
    for query in &missing {
        let names = map.iter().map(|entry| method_name(&entry));
        talk.warn(format_args!("{}: nothing fits {query}{}", name(), did_you_mean(query, names)));
    }
    Ok(if missing.is_empty() { Exit::Done } else { Exit::Negative })
}

fn parse(query: &str) -> Result<Query> {
    if query.bytes().all(|b| b.is_ascii_digit()) && !query.is_empty() {
        let id = query.parse().map_err(|_| usage(format!("{query}: too large for an id")))?;
        return Ok(Query::Id(id));
    }
    MethodQuery::new(query).map(Query::Pattern).map_err(|error| usage(error.to_string()))
}

impl Query {
    fn matches(&self, entry: &Entry<'_>) -> bool {
        match self {
            Query::Id(id) => entry.id == *id,
            Query::Pattern(pattern) => {
                pattern.matches(entry.class, entry.method.name, entry.method.descriptor)
            }
        }
    }
}

/// The text of the map in a file: plain, packed, inside an archive, or inside a directory.
fn read_map(path: &Path) -> Result<Vec<u8>> {
    let inside = path.join(ENTRY_NAME);
    if path.is_dir() && !inside.is_file() {
        bail!("no {ENTRY_NAME} in this directory: it is not instrumented");
    }
    let bytes = std::fs::read(if path.is_dir() { &inside } else { path })?;
    match bytes.get(..2) {
        Some([0x1f, 0x8b]) => Ok(gz::decompress(&bytes, LARGEST_MAP)?),
        // A start script may stand before an archive.
        Some(b"PK" | b"#!") => Ok(gz::decompress(&map_in_archive(bytes)?, LARGEST_MAP)?),
        _ => Ok(bytes),
    }
}

/// The entry [`ENTRY_NAME`] of an archive, at its root or wherever this kind of archive has its class path.
fn map_in_archive(bytes: Vec<u8>) -> Result<Vec<u8>> {
    let archive = Tree::of_archive(bytes)?;
    let is_map =
        |name: &str| name.strip_suffix(ENTRY_NAME).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    match archive.entries().iter().find(|entry| is_map(&entry.name)) {
        Some(entry) => archive.read(entry),
        None => bail!("no {ENTRY_NAME} in this archive: it is not instrumented"),
    }
}

fn write_text(entry: &Entry<'_>, out: &mut impl Write) -> Result<()> {
    let method = &entry.method;
    let (class, name, descriptor) = (display(entry.class), display(method.name), display(method.descriptor));
    let place = format!("{class}#{name}{descriptor}");
    write!(out, "{}\t{}", entry.id, printable(&place))?;
    if method.is_library_call() {
        return writeln!(out, "\tcalls of it").map_err(Into::into);
    }
    let source = entry.source.map(|name| printable(&display(name)).into_owned());
    match (source, method.line) {
        (Some(source), 0) => writeln!(out, "\t{source}")?,
        (Some(source), line) => writeln!(out, "\t{source}:{line}")?,
        (None, _) => writeln!(out)?,
    }
    Ok(())
}

/// `pkg.Class.method(desc)`.
fn method_name(entry: &Entry<'_>) -> String {
    let method = &entry.method;
    let class = display(entry.class).replace('/', ".");
    format!("{class}.{}{}", display(method.name), display(method.descriptor))
}

fn write_json(entry: &Entry<'_>, out: &mut impl Write) -> Result<()> {
    let method = &entry.method;
    let line = serde_json::json!({
        "id": entry.id,
        "class": display(entry.class),
        "method": display(method.name),
        "descriptor": display(method.descriptor),
        "source": entry.source.map(display),
        "line": (method.line != 0).then_some(method.line),
        "flags": method.flags,
        "library_call": method.is_library_call(),
        "fingerprint": format!("{:016x}", method.fingerprint),
    });
    writeln!(out, "{line}")?;
    Ok(())
}
