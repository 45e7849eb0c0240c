//! `instrument`: options, I/O and all talking to people.

fn main() {}
