//! Profiles as a dataset of Parquet files, for engines that read thousands of them: DuckDB, Spark, ClickHouse, pandas.
//!
//! | module | |
//! |---|---|
//! | [`schema`] | the tables and their columns; its version |
//! | [`place`] | the folders: partitions by service, build and day |
//! | [`batch`] | rows on their way into a file |
//! | [`sorted`] | the order of rows |
//! | [`column`] | the values of a column of these rows |
//! | [`encoding`] | how a file is written, and each of its columns |
//! | [`chunk`] | a column of a group of rows, as pages of a file |
//! | [`codec`] | how values of each kind lie in a page |
//! | [`hybrid`], [`distinct`] | small numbers, packed; what a dictionary is made of |
//! | [`labels`] | which service and build a process is of |
//! | [`inputs`] | which profiles there are, each process once, and in which order |
//! | [`figures`] | a process that was read, and its figures |
//! | [`process`] | the rows of one process |
//! | [`sums`] | sums over the contexts of each method |
//! | [`durations`] | the rows of how long calls took |
//! | [`remote`] | the rows of remote calls |
//! | [`together`] | processes that call each other, as one |
//!
//! Every figure is one of the model, which reports print, or a sum of them. A context is the hash of its path
//! ([`crate::context_key`]), so what is known of it in any number of processes is one `GROUP BY`. A total has its
//! callees in it, and rows of contexts below one of the same method are marked (`nested`): sums over the others count
//! nothing twice ([`crate::arcs`]).
//!
//! The same profiles with the same labels give the same files, byte for byte: rows come in the order of the processes'
//! keys, and files are named by a hash of what is in them (the *batch*). So a dataset grows by files, none is ever
//! changed, and what is exported twice is there once. A process that was exported in two batches, as a live one may be,
//! has rows of both: readers take those of one.
//!
//! Memory: a process for each processor at a time, a group of rows of each table of one partition, the keys of the
//! contexts and methods of one partition, and the profiles that have remote calls, which are matched with each other.

mod batch;
mod chunk;
mod codec;
mod column;
mod distinct;
mod durations;
mod encoding;
mod figures;
mod hybrid;
mod inputs;
mod known;
pub mod labels;
mod place;
mod process;
mod remote;
pub mod schema;
mod sorted;
mod sums;
mod together;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use crate::session::names::KnownIdMaps;
use crate::session::{Error, Message, ProfileFile, Request, Session};
use batch::{Batch, Block, Cell};
use figures::Process;
use inputs::{Input, Inputs};
use known::Known;
use labels::Sources;
use place::Partition;
use schema::Table;
pub use together::write_together;

/// Where the files of a dataset go.
pub trait Folder {
    /// A file that is being written.
    type File: Write + Send;

    /// Begins a file; its path is below the folder of the dataset.
    ///
    /// # Errors
    /// It cannot be made.
    fn create(&mut self, path: &Path) -> io::Result<Self::File>;

    /// A file is written. The last ones are those of the processes, without which no reader counts the rows of the
    /// others.
    ///
    /// # Errors
    /// It cannot be kept.
    fn finish(&mut self, path: &Path, file: Self::File) -> io::Result<()>;
}

#[derive(Debug, Default)]
pub struct Written {
    /// Processes, each once.
    pub processes: usize,
    /// Rows of contexts in threads.
    pub values: u64,
    /// What is to be said of the profiles.
    pub messages: Vec<Message>,
}

/// Rows after which a group is written.
const GROUP: usize = 1 << 20;

/// Writes profiles as a dataset. Figures are of everything since the start, also where a process was reset.
///
/// # Errors
/// A file that is no profile or cannot be read, a file that cannot be written.
pub fn write<F: Folder>(paths: &[PathBuf], labels: &Sources, folder: &mut F) -> Result<Written, Error> {
    let inputs = Inputs::read(paths, labels)?;
    let mut written = Written { messages: inputs.messages.clone(), ..Written::default() };
    let mut files = Files { folder, batch: &inputs.batch };
    let mut calling = Vec::new();
    let mut processes = Vec::new();
    let id_maps = KnownIdMaps::default();
    for of_partition in inputs.all.chunk_by(|a, b| a.partition == b.partition) {
        let partition = &of_partition[0].partition;
        let mut known = Known::default();
        let mut tables = process::Tables::new(|table| files.table(table, partition));
        let mut rows = files.table(&schema::PROCESSES, partition);
        for some in of_partition.chunks(rayon::current_num_threads()) {
            // Processes do not depend on each other; their rows come in the order of their keys.
            let read: Vec<_> = some.par_iter().map(|input| read(input, &id_maps)).collect();
            for (input, process) in some.iter().zip(read) {
                let mut process = process?;
                let messages = process.session.messages.drain(..);
                written.messages.extend(messages.map(|message| naming(&input.path, message)));
                process::rows(&process, input, &mut known, &mut tables, &mut files)?;
                process::process_row(&process.session, input, &mut rows, &mut files)?;
                written.processes += 1;
                if input.has_remote_calls {
                    calling.extend(process.session.profiles.into_iter().map(|file| (input, file)));
                }
            }
        }
        known.rows(&mut tables.methods, &mut files)?;
        written.values += tables.finish(&mut files)?;
        processes.push(rows);
    }
    let (calling, profiles): (Vec<_>, Vec<ProfileFile>) = calling.into_iter().unzip();
    remote::rows(&inputs.all, &calling, &profiles, &mut files)?;
    for rows in processes {
        rows.finish(&mut files)?;
    }
    Ok(written)
}

fn read(input: &Input, id_maps: &KnownIdMaps) -> Result<Process, Error> {
    let (files, since) = (vec![input.path.clone()], vec![PathBuf::from("start")]);
    let request =
        Request { files, since, contexts: true, id_maps: Some(id_maps.clone()), ..Request::default() };
    Session::read(&request).map(Process::new)
}

/// What is said of one of many profiles names it.
fn naming(path: &Path, message: Message) -> Message {
    let name = path.display().to_string();
    let text =
        if message.text.starts_with(&name) { message.text } else { format!("{name}: {}", message.text) };
    Message { text, ..message }
}

/// Makes and ends files.
struct Files<'a, F> {
    folder: &'a mut F,
    batch: &'a str,
}

impl<F: Folder> Files<'_, F> {
    fn table(&self, table: &'static Table, partition: &Partition) -> Rows<F::File> {
        Rows {
            path: partition.file(table, self.batch),
            table,
            batch: Batch::new(table),
            writer: None,
            written: 0,
        }
    }
}

/// A table of a partition that is being written. It has a file also without a row: engines do not read what has no
/// file.
struct Rows<W: Write + Send> {
    path: PathBuf,
    table: &'static Table,
    batch: Batch,
    writer: Option<SerializedFileWriter<W>>,
    written: u64,
}

impl<W: Write + Send> Rows<W> {
    /// Adds a row: its cells without the first one, the batch.
    fn push<F: Folder<File = W>>(&mut self, row: &[Cell<'_>], files: &mut Files<'_, F>) -> Result<(), Error> {
        assert_eq!(1 + row.len(), self.table.columns.len(), "{}: cells of a row", self.table.name);
        self.batch.push(files.batch, row);
        self.written += 1;
        if self.room() == 0 { self.group(files) } else { Ok(()) }
    }

    /// Rows that the group has room for.
    fn room(&self) -> usize {
        GROUP - self.batch.rows()
    }

    /// Adds so many rows, for which there is room; `fill` sets all columns but the first one.
    fn push_block<F: Folder<File = W>>(
        &mut self,
        rows: usize,
        files: &mut Files<'_, F>,
        fill: impl FnOnce(&mut Block<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        fill(&mut self.batch.block(files.batch, rows))?;
        self.written += rows as u64;
        if self.room() == 0 { self.group(files) } else { Ok(()) }
    }

    fn group<F: Folder<File = W>>(&mut self, files: &mut Files<'_, F>) -> Result<(), Error> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin(files)?,
        };
        self.batch.write(&mut writer).map_err(|error| failed(&self.path, error))?;
        self.writer = Some(writer);
        Ok(())
    }

    fn begin<F: Folder<File = W>>(&self, files: &mut Files<'_, F>) -> Result<SerializedFileWriter<W>, Error> {
        let failed = |error| failed(&self.path, error);
        let file = files.folder.create(&self.path).map_err(|error| failed(error.into()))?;
        let (schema, properties) = (self.table.schema(), encoding::properties(self.table));
        let writer = schema.and_then(|schema| SerializedFileWriter::new(file, schema, properties?.into()));
        writer.map_err(failed)
    }

    /// Ends the file. How many rows it has.
    fn finish<F: Folder<File = W>>(mut self, files: &mut Files<'_, F>) -> Result<u64, Error> {
        if self.batch.rows() > 0 {
            self.group(files)?;
        }
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin(files)?,
        };
        let file = writer.into_inner().map_err(|error| failed(&self.path, error))?;
        files.folder.finish(&self.path, file).map_err(|error| failed(&self.path, error.into()))?;
        Ok(self.written)
    }
}

fn failed(path: &Path, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    };
    Error::Io { what: format!("writing {}", path.display()), source }
}
