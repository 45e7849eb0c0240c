//! `instrument dump`: classes as text.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::Result;
use instrument_artifacts::dump::{Request, write};
use instrument_messages::Listener;
use instrument_rewriter::text::PrintOptions;
use std::io::{self, BufWriter, Write};

/// Print classes as text: constant pool, code, frames, tables, every attribute
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Class files, archives, directories (`X.class`, `app.jar`, `app.jar!com/acme/Foo.class`,
    /// `app.jar!lib/x.jar`), and behind one the classes to print (`com.acme.Foo`, `com/acme/*`, `com/**`)
    #[arg(required = true, value_name = "INPUT|CLASS")]
    names: Vec<String>,
    /// Print only the methods that fit PATTERN: `run`, `get*`, `<init>(int)`, `com.acme.Foo.run(int)`, `run:(I)V`
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// Leave out the constant pool
    #[arg(long)]
    no_pool: bool,
    /// Also print constant-pool indices, offsets in the class file, and bytes
    #[arg(long)]
    raw: bool,
    /// Print labels instead of offsets in the code, as `diff` compares classes
    #[arg(long)]
    labels: bool,
}

/// Prints to standard output. A reader who has seen enough (`| head`) is no failure.
pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let mut out = BufWriter::new(io::stdout().lock());
    let form = if opts.labels { PrintOptions::canonical() } else { PrintOptions::listing() };
    let options = PrintOptions { pool: !opts.no_pool, raw: opts.raw, ..form };
    let request = Request { names: opts.names, method: opts.method, options };
    let outcome = write(&request, &mut out).and_then(|unreadable| {
        out.flush()?;
        Ok(unreadable)
    });
    match outcome {
        Ok(unreadable) => {
            for error in &unreadable {
                talk.error(format_args!("{error:#}"));
            }
            Ok(if unreadable.is_empty() { Exit::Done } else { Exit::Negative })
        }
        Err(error) => Err(error),
    }
}
