//! Standard input that several programs read one after the other, each from its beginning on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use rustix::fs::{FileType, fstat};

/// Bytes that are passed on at once.
const PIECE: usize = 1 << 16;
/// Bytes that are kept before any program has read them: whoever writes more waits, as for a full pipe.
const AHEAD: u64 = 1 << 20;

/// Where programs have their input from.
pub enum KeptInput {
    /// A terminal or another device: each program has it itself.
    Shared,
    /// A file, read from this place on.
    File(File, u64),
    /// A pipe: what came through it so far is in a file.
    Pipe(Arc<Pipe>),
}

/// What came through a pipe.
pub struct Pipe {
    kept: File,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    length: u64,
    /// How far some program has read.
    furthest: u64,
    has_ended: bool,
}

impl KeptInput {
    /// That of this process, which nobody else reads from now on. `beside`: a folder that is written to anyhow, for what comes through a pipe where
    /// there is none for temporary files.
    ///
    /// # Errors
    /// No file can be made for what comes through a pipe.
    pub fn new(beside: &Path) -> Result<KeptInput> {
        let stdin = io::stdin();
        let Ok(kind) = fstat(&stdin).map(|stat| FileType::from_raw_mode(stat.st_mode)) else {
            return Ok(KeptInput::Shared);
        };
        let mut input = File::from(stdin.as_fd().try_clone_to_owned().context("standard input")?);
        match kind {
            FileType::RegularFile => {
                let at = input.stream_position().context("standard input")?;
                Ok(KeptInput::File(input, at))
            }
            FileType::Fifo | FileType::Socket => Ok(KeptInput::Pipe(Pipe::new(input, kept(beside)?))),
            _ => Ok(KeptInput::Shared),
        }
    }

    /// What the next program gets as its input.
    ///
    /// # Errors
    /// A file that cannot be read from its beginning.
    pub fn stdio(&mut self) -> Result<Stdio> {
        match self {
            KeptInput::Shared => Ok(Stdio::inherit()),
            KeptInput::File(file, at) => {
                file.seek(SeekFrom::Start(*at)).context("standard input")?;
                Ok(file.try_clone().context("standard input")?.into())
            }
            KeptInput::Pipe(_) => Ok(Stdio::piped()),
        }
    }

    /// Feeds a program that was started with that, until it has everything or reads no more.
    pub fn feed(&self, to: Option<ChildStdin>) {
        if let (KeptInput::Pipe(pipe), Some(to)) = (self, to) {
            let pipe = pipe.clone();
            // It ends when the program or the input does.
            thread::spawn(move || pipe.copy(to));
        }
    }
}

impl Pipe {
    fn new(mut input: impl Read + Send + 'static, kept: File) -> Arc<Pipe> {
        let pipe = Arc::new(Pipe { kept, state: Mutex::default(), changed: Condvar::new() });
        let reader = pipe.clone();
        thread::spawn(move || {
            let mut bytes = vec![0; PIECE];
            let mut length = 0;
            while let Ok(more @ 1..) = input.read(&mut bytes) {
                let is_ahead = |state: &mut State| length > state.furthest + AHEAD;
                drop(reader.changed.wait_while(reader.state(), is_ahead));
                // What cannot be kept ends the input for all: none has more than another one.
                if write_at(&reader.kept, &bytes[..more], length).is_err() {
                    break;
                }
                length += more as u64;
                reader.state().length = length;
                reader.changed.notify_all();
            }
            reader.state().has_ended = true;
            reader.changed.notify_all();
        });
        pipe
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes everything from the beginning on, and what comes meanwhile.
    fn copy(&self, mut to: impl Write) {
        let (mut bytes, mut at) = (vec![0; PIECE], 0);
        loop {
            let is_there = |state: &mut State| state.length == at && !state.has_ended;
            let state = self.changed.wait_while(self.state(), is_there);
            let length = state.unwrap_or_else(PoisonError::into_inner).length;
            let more = bytes.len().min((length - at) as usize);
            // All is written, or nobody reads it any more.
            if more == 0
                || read_at(&self.kept, &mut bytes[..more], at).is_err()
                || to.write_all(&bytes[..more]).is_err()
            {
                return;
            }
            at += more as u64;
            let mut state = self.state();
            state.furthest = state.furthest.max(at);
            self.changed.notify_all();
        }
    }
}

/// A file without a name: where temporary ones are, or else in a folder.
fn kept(beside: &Path) -> Result<File> {
    in_folders(&std::env::temp_dir(), beside)
}

fn in_folders(temporary: &Path, beside: &Path) -> Result<File> {
    let kept = tempfile::tempfile_in(temporary).or_else(|_| {
        std::fs::create_dir_all(beside)?;
        tempfile::tempfile_in(beside)
    });
    kept.context("a file for standard input")
}

fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reader_of_a_pipe_has_everything() {
        let text: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
        let (reader, mut writer) = io::pipe().unwrap();
        let pipe = Pipe::new(reader, tempfile::tempfile().unwrap());
        let first = {
            let pipe = pipe.clone();
            thread::spawn(move || {
                let mut all = Vec::new();
                pipe.copy(&mut all);
                all
            })
        };
        for piece in text.chunks(77_777) {
            writer.write_all(piece).unwrap();
        }
        drop(writer);
        assert!(first.join().unwrap() == text);
        let mut second = Vec::new();
        pipe.copy(&mut second);
        assert!(second == text);
        // Nobody reads: no more than a bound is kept, however much there is.
        let (reader, mut writer) = io::pipe().unwrap();
        let waiting = Pipe::new(reader, tempfile::tempfile().unwrap());
        thread::spawn(move || drop(writer.write_all(&[0; 8 << 20])));
        while waiting.state().length <= AHEAD {
            thread::yield_now();
        }
        thread::sleep(std::time::Duration::from_millis(50));
        assert!(waiting.state().length <= AHEAD + PIECE as u64);
        // One that reads no more stops it.
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        pipe.copy(writer);
    }

    #[test]
    fn where_there_are_no_temporary_files_the_input_is_kept_beside_the_profile() {
        let folder = tempfile::tempdir().unwrap();
        let beside = folder.path().join("new");
        let kept = in_folders(&folder.path().join("none"), &beside).unwrap();
        write_at(&kept, b"text", 0).unwrap();
        assert!(beside.is_dir() && std::fs::read_dir(&beside).unwrap().next().is_none());
    }
}
