//! What `instrument top` refuses; `tests/tests/top.rs` uses it on a terminal.

use crate::common::Dir;
use instrument_testing::{Script, Writer};

#[test]
fn top_needs_a_terminal_and_something_to_show() {
    let dir = Dir::new();
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(100)));
    dir.write("a.iprof", writer.finish());
    dir.line("top a.iprof").says(2, &["top needs a terminal", "instrument xprof a.iprof"]);
    dir.line("top missing.iprof").says(2, &["top needs a terminal"]);
    dir.line("top 4294967295").says(2, &["there is neither a file nor a process 4294967295"]);
    let us = std::process::id();
    dir.line(&format!("top {us}")).says(2, &["is not recorded", &format!("instrument attach {us}")]);
}
