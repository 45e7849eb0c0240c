//! A timeline as text.

use std::io;

use instrument_analysis::export::timeline::{Thread, Timeline};

/// Takes down what it is fed, as text.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub(crate) String);

impl Timeline for Notes {
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        self.0 += &format!("[{} {}/{}]", thread.process, thread.process_name, thread.name);
        Ok(())
    }
    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        self.0 += &format!(" {at}>{name}");
        Ok(())
    }
    fn leave(&mut self, at: u64) -> io::Result<()> {
        self.0 += &format!(" {at}<");
        Ok(())
    }
    fn finish(&mut self) -> io::Result<()> {
        self.0 += " end";
        Ok(())
    }
}
