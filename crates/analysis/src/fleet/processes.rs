//! Which processes of a dataset are chosen, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Chosen;
use super::table::{files, not_a_table, read};
use crate::export::parquet::schema::{PROCESSES, Table};
use crate::session::Error;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    /// The folder of its partition, below those of the tables.
    partition: PathBuf,
    batch: String,
    pub(super) service: String,
    pub(super) build: Option<String>,
    pub(super) program: String,
    pub(super) start_ms: u64,
    pub(super) java_version: Option<String>,
    pub(super) host: Option<String>,
    pub(super) is_whole: bool,
    pub(super) is_live: bool,
    pub(super) dropped: u64,
    calls: u64,
    /// What was sampled, if it is not CPU time.
    pub(super) event: Option<String>,
}

/// The processes that are chosen, by key.
#[derive(Debug, Default)]
pub(super) struct Processes {
    pub(super) all: BTreeMap<[u8; 16], Process>,
}

const COLUMNS: [&str; 13] = [
    "batch",
    "process",
    "service_name",
    "build_name",
    "program",
    "start",
    "java_version",
    "host",
    "is_whole",
    "is_live",
    "dropped",
    "calls",
    "event",
];

impl Processes {
    pub(super) fn read(dataset: &Path, chosen: &Chosen) -> Result<Processes, Error> {
        let mut processes = Processes::default();
        for file in files(dataset, &PROCESSES)? {
            if !is_of_days(&file, chosen) {
                continue;
            }
            read(dataset, &PROCESSES, &file, &COLUMNS, |rows| {
                for row in 0..rows.count {
                    let text = |column| rows.text(column, row).map(str::to_owned);
                    let (Some(batch), Some(key)) = (text(0), rows.key(1, row)) else {
                        let path = dataset.join(PROCESSES.name).join(&file);
                        return Err(not_a_table(&path, &PROCESSES, "a row has no batch or no process"));
                    };
                    let process = Process {
                        partition: file.parent().unwrap_or(Path::new("")).to_owned(),
                        batch,
                        service: text(2).unwrap_or_default(),
                        build: text(3),
                        program: text(4).unwrap_or_default(),
                        start_ms: rows.count_of(5, row),
                        java_version: text(6),
                        host: text(7),
                        is_whole: rows.flag(8, row).unwrap_or(false),
                        is_live: rows.flag(9, row).unwrap_or(false),
                        dropped: rows.count_of(10, row),
                        calls: rows.count_of(11, row),
                        event: text(12),
                    };
                    let is_wanted = chosen.service.as_ref().is_none_or(|service| *service == process.service)
                        && (chosen.build.is_none() || chosen.build == process.build);
                    if is_wanted {
                        processes.add(key, process);
                    }
                }
                Ok(())
            })?;
        }
        if processes.all.is_empty() {
            return Err(Error::Request(format!(
                "{}: no process of the dataset fits service, build, since and until together: leave one of them out",
                dataset.display()
            )));
        }
        Ok(processes)
    }

    /// Of several exports of a process, as of a live one, the fullest is taken, and of those the first batch.
    fn add(&mut self, key: [u8; 16], process: Process) {
        match self.all.get(&key) {
            Some(known) if (known.calls, &process.batch) >= (process.calls, &known.batch) => {}
            _ => drop(self.all.insert(key, process)),
        }
    }

    /// Whether rows of a process in a batch are the ones to be taken.
    pub(super) fn has(&self, key: &[u8; 16], batch: &str) -> bool {
        self.all.get(key).is_some_and(|process| process.batch == batch)
    }

    /// The files of a table in the partitions of the processes.
    pub(super) fn files(&self, dataset: &Path, table: &'static Table) -> Result<Vec<PathBuf>, Error> {
        let partitions: BTreeSet<&Path> = self.all.values().map(|process| &*process.partition).collect();
        let mut found = files(dataset, table)?;
        found.retain(|file| file.parent().is_some_and(|partition| partitions.contains(partition)));
        Ok(found)
    }
}

/// Whether the day of a partition is chosen; one that is not known is.
fn is_of_days(file: &Path, chosen: &Chosen) -> bool {
    let folders = file.iter().filter_map(|part| part.to_str());
    let Some(day) = folders.filter_map(|part| part.strip_prefix("day=")).next_back() else { return true };
    // Days of this form compare as their texts do.
    let is_day = day.len() == "2026-11-24".len() && day.starts_with(|c: char| c.is_ascii_digit());
    !is_day
        || chosen.since.as_deref().is_none_or(|since| day >= since)
            && chosen.until.as_deref().is_none_or(|until| day <= until)
}
