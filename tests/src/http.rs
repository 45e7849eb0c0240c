//! Programs that ask each other by HTTP: those of `tests/java/http`, and what a merge of their profiles makes of each request.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_analysis::merge::{MatchState, Matching, Party, match_calls};
use instrument_trace::format::{KEY_KNOWN, REMOTE_CALL};
use instrument_trace::{Profile, RemoteCall, RemoteCallKind};

use crate::agent;
use crate::corpus::Corpus;
use crate::jre::Jre;
use crate::machine::{Jdk, Run, root};
use crate::rmi::{self, Running};
use crate::subject;

/// The programs, compiled: with their jars.
pub struct Programs {
    class_path: std::ffi::OsString,
}

impl Programs {
    /// Compiles the plain ones and these parts of `tests/java/http` against rows of the corpus; `change` gets each source first.
    pub fn compile(
        folder: &Path,
        parts: &[&str],
        jars: &[&str],
        change: fn(String) -> String,
    ) -> Result<Programs> {
        let parts: Vec<String> = ["plain"].iter().chain(parts).map(|part| format!("http/{part}")).collect();
        Programs::of(folder, &parts, jars, change)
    }

    /// The same of folders and files below `tests/java`.
    pub fn of<S: AsRef<Path>>(
        folder: &Path,
        parts: &[S],
        jars: &[&str],
        change: fn(String) -> String,
    ) -> Result<Programs> {
        let corpus = Corpus::open()?;
        corpus.fetch(jars)?;
        let mut paths = Vec::new();
        for jar in jars {
            paths.push(corpus.path(jar)?);
            paths.extend(corpus.class_path(corpus.jar(jar)?)?);
        }
        let (sources, classes) = (folder.join("sources"), folder.join("classes"));
        fs::create_dir_all(&sources)?;
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["-nowarn", "-Xlint:none", "--release", "11", "-sourcepath"]).arg(&sources);
        javac.arg("-cp").arg(std::env::join_paths(&paths)?).arg("-d").arg(&classes);
        for part in parts {
            let one = root().join("tests/java").join(part);
            let files = if one.is_dir() {
                fs::read_dir(one)?.map(|e| e.unwrap().path()).collect()
            } else {
                vec![one]
            };
            for file in files {
                let copy = sources.join(file.file_name().context("a file")?);
                fs::write(&copy, change(fs::read_to_string(&file)?))?;
                javac.arg(copy);
            }
        }
        javac.run_quietly()?;
        paths.insert(0, classes);
        Ok(Programs { class_path: std::env::join_paths(&paths)? })
    }

    /// The same with their own classes rewritten.
    pub fn rewritten(&self, options: &[&str]) -> Result<Programs> {
        let mut paths: Vec<PathBuf> = std::env::split_paths(&self.class_path).collect();
        let rewritten = paths[0].with_file_name("rewritten");
        subject::rewrite(&paths[0], &rewritten, options)?;
        paths[0] = rewritten;
        Ok(Programs { class_path: std::env::join_paths(&paths)? })
    }

    /// A call of `java` in a folder; under the agent, with these options and a name for its profile, or without it.
    pub fn java(&self, jre: &Jre, options: Option<&str>, name: &str, folder: &Path) -> Result<Command> {
        let mut java = jre.brief_java();
        java.current_dir(folder);
        if let Some(options) = options {
            java.arg(agent::option(options)?).arg(format!("-Dinstrument.name={name}"));
        }
        java.arg("-cp").arg(&self.class_path);
        Ok(java)
    }

    /// Starts a service, and reads where it listens.
    pub fn serve(
        &self,
        jre: &Jre,
        options: Option<&str>,
        name: &str,
        folder: &Path,
        arguments: &[&str],
    ) -> Result<(Running, String)> {
        let mut java = self.java(jre, options, name, folder)?;
        java.args(arguments);
        let mut service = Running::start(java, name, folder)?;
        let port = service.line()?;
        Ok((service, format!("http://127.0.0.1:{port}")))
    }
}

/// A request as a program has told of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Said {
    /// `made`, `served`, or `lost`: made, and nobody waited for the response, or none came.
    pub side: String,
    /// Method and path.
    pub request: String,
    /// What tells it from all others.
    pub nonce: String,
    /// Its header; none: it has none, or whoever told of it does not know.
    pub header: Option<String>,
}

/// What a program has said of requests.
pub fn said(output: &str) -> Vec<Said> {
    let line = |line: &str| {
        let [side, method, path, nonce, header] = line.splitn(5, ' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        ["made", "served", "lost"].contains(&side).then(|| Said {
            side: side.to_owned(),
            request: format!("{method} {path}"),
            nonce: nonce.to_owned(),
            header: Some(header).filter(|header| *header != "null").map(str::to_owned),
        })
    };
    output.lines().filter_map(line).collect()
}

/// The records of several processes, and which are of the same request.
pub struct Merged {
    profiles: Vec<Profile>,
    matching: Matching,
    made: Vec<(usize, RemoteCall)>,
    served: Vec<(usize, RemoteCall)>,
}

impl Merged {
    /// Reads the one profile of each name.
    pub fn of(folder: &Path, names: &[&str]) -> Result<Merged> {
        Merged::read(folder, names, true)
    }

    /// The same, matched as if no request had had a header: the headers, which the records still have, tell whether that is right.
    pub fn without_headers(folder: &Path, names: &[&str]) -> Result<Merged> {
        Merged::read(folder, names, false)
    }

    fn read(folder: &Path, names: &[&str], keys: bool) -> Result<Merged> {
        let paths: Vec<PathBuf> =
            names.iter().map(|name| rmi::profile(folder, name)).collect::<Result<_>>()?;
        rmi::all_are_listed(&paths, &[])?;
        let files: Vec<File> = paths.iter().map(File::open).collect::<std::io::Result<_>>()?;
        let profiles: Vec<Profile> = files.iter().map(Profile::open).collect::<Result<_, _>>()?;
        let parties: Vec<_> =
            profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
        let matching = if keys { match_calls(&parties)? } else { without_keys(&profiles, &paths)? };
        let (mut made, mut served) = (Vec::new(), Vec::new());
        for (number, party) in parties.iter().enumerate() {
            ensure!(party.profile.imbalances().is_empty(), "{:?}", party.profile.imbalances());
            party.profile.visit_remote_calls(party.source, |call| match call.kind {
                RemoteCallKind::Made => made.push((number, *call)),
                RemoteCallKind::Served => served.push((number, *call)),
                RemoteCallKind::Other(_) => {}
            })?;
        }
        Ok(Merged { profiles, matching, made, served })
    }

    /// Requests made with their match_states; of those that are matched the record at the other end.
    pub fn made(&self) -> impl Iterator<Item = (&RemoteCall, MatchState, Option<&RemoteCall>)> {
        (0..).zip(&self.made).map(|(row, (_, call))| {
            let other = self.matching.made.partner(row).map(|row| &self.served[row as usize].1);
            (call, self.matching.made.match_state(row), other)
        })
    }

    /// Requests served, each with the place of its process among the names.
    pub fn all_served(&self) -> impl Iterator<Item = (usize, &RemoteCall)> {
        self.served.iter().map(|(party, call)| (*party, call))
    }

    /// How many requests were served, by their match_state.
    pub fn served(&self) -> BTreeMap<&'static str, usize> {
        let mut match_states = BTreeMap::new();
        for row in 0..self.served.len() as u32 {
            *match_states.entry(self.matching.served.match_state(row).word()).or_default() += 1;
        }
        match_states
    }

    /// The same of those that were made.
    pub fn match_states(&self) -> BTreeMap<&'static str, usize> {
        let mut match_states = BTreeMap::new();
        for (_, match_state, _) in self.made() {
            *match_states.entry(match_state.word()).or_default() += 1;
        }
        match_states
    }

    /// What requests made are called.
    pub fn names(&self) -> BTreeSet<&str> {
        let name = |(party, call): &(usize, RemoteCall)| {
            self.profiles[*party].copies[&call.copy].class_names[&call.method].as_str()
        };
        self.made.iter().map(name).collect()
    }
}

/// Matches the records of profiles whose keys are struck out first.
fn without_keys(profiles: &[Profile], paths: &[PathBuf]) -> Result<Matching> {
    const FLAGS: usize = 32;
    let mut files = Vec::new();
    for (profile, path) in profiles.iter().zip(paths) {
        let mut bytes = fs::read(path)?;
        for region in &profile.remote_calls {
            let region = &mut bytes[region.offset as usize..(region.offset + region.length) as usize];
            for record in region.chunks_exact_mut(REMOTE_CALL as usize) {
                let flags = u64::from_le_bytes(record[FLAGS..FLAGS + 8].try_into()?);
                let keyless = flags & !(u64::from(KEY_KNOWN) << 48);
                record[FLAGS..FLAGS + 8].copy_from_slice(&keyless.to_le_bytes());
            }
        }
        files.push(bytes);
    }
    let profiles: Vec<Profile> = files.iter().map(|file| Profile::parse(file)).collect::<Result<_, _>>()?;
    let parties: Vec<_> =
        profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
    Ok(match_calls(&parties)?)
}

/// A header as the record of a request has it.
pub fn header(call: &RemoteCall) -> Option<String> {
    let key = call.http?.key?;
    Some(format!("{:032x}-{:016x}", key.trace, key.parent))
}

/// Checks every pair against what both ends have said: the client's nonce must be the server's. `services` is what those have said, `clients` what
/// was said by whoever has made requests. Returns how many pairs both ends could tell of.
pub fn check_nonces(merged: &Merged, clients: &[Said], services: &[Said]) -> Result<usize> {
    let by_key = |said: &[Said], sides: &[&str]| -> BTreeMap<String, BTreeSet<String>> {
        let mut by_key: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in said.iter().filter(|one| sides.contains(&one.side.as_str())) {
            let key = one.header.as_deref().and_then(|header| header.get(3..52));
            if let Some(key) = key {
                by_key.entry(key.to_owned()).or_default().insert(one.nonce.clone());
            }
        }
        by_key
    };
    let (here, there) = (by_key(clients, &["made", "lost"]), by_key(services, &["served"]));
    let mut told = 0;
    let mut seen = BTreeSet::new();
    for (made, match_state, served) in merged.made() {
        let Some(served) = served else { continue };
        let (one, other) = (header(made).context("a key")?, header(served).context("a key")?);
        // The hops of a redirect have one key, and each a path of its own.
        let is_new = seen.insert((one.clone(), made.hash));
        ensure!(one == other && made.hash == served.hash && is_new, "{made:?} {served:?} {match_state:?}");
        let nonces = there.get(&other).with_context(|| format!("nobody has served {other}"))?;
        ensure!(nonces.len() == 1, "{other}: {nonces:?}");
        if let Some(mine) = here.get(&one) {
            ensure!(mine == nonces, "{one}: {mine:?} was served as {nonces:?}");
            told += 1;
        }
    }
    Ok(told)
}
