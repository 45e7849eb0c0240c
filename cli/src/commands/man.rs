//! `instrument man`: the manual pages.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_messages::Listener;
use std::io::Write;
use std::path::PathBuf;

/// Print the manual page, or write all pages into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Where to write instrument.1 and a page for each command; without it, the main page goes to stdout
    directory: Option<PathBuf>,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let command = crate::options::command_line::command();
    match &opts.directory {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            std::io::stdout().lock().write_all(&page)?;
        }
        Some(directory) => {
            let name = || directory.display().to_string();
            std::fs::create_dir_all(directory).with_context(name)?;
            clap_mangen::generate_to(command, directory).with_context(name)?;
            talk.note(format_args!("manual pages are in {}", directory.display()));
        }
    }
    Ok(Exit::Done)
}
