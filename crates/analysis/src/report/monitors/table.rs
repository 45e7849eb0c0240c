//! Tables for programs: monitors, or threads, of all processes.

use std::io::Write;

use instrument_names::signature::java_class;

use super::Process;
use crate::report::{Error, Options, machine};
use crate::waits::{Both, OTHERS, Sum};

/// One row for each monitor.
pub(super) fn monitors(
    out: &mut dyn Write,
    processes: &[Process<'_>],
    options: &Options<'_>,
) -> Result<(), Error> {
    writeln!(out, "process,monitor,class{}{},where", columns("contended"), columns("waiting"))?;
    processes.iter().try_for_each(|process| process.monitor_rows(out, options))
}

/// One row for each thread.
pub(super) fn threads(
    out: &mut dyn Write,
    processes: &[Process<'_>],
    options: &Options<'_>,
) -> Result<(), Error> {
    let facts = "number,thread,group,group_parent,daemon,virtual,start,end,started_by";
    writeln!(out, "process,{facts}{}{}", columns("contended"), columns("waiting"))?;
    processes.iter().try_for_each(|process| process.thread_rows(out, options))
}

fn columns(kind: &str) -> String {
    ["times", "total", "max", "open", "timed_out"].map(|figure| format!(",{kind}_{figure}")).concat()
}

fn fields(both: &Both) -> String {
    let of = |sum: &Sum| format!(",{},{},{},{},{}", sum.times, sum.ns, sum.max, sum.open, sum.timed_out);
    of(&both.contended) + &of(&both.waiting)
}

impl Process<'_> {
    fn monitor_rows(&self, out: &mut dyn Write, options: &Options<'_>) -> Result<(), Error> {
        for (monitor, waits) in self.monitors(options).0 {
            let number = match monitor.number {
                0 | OTHERS => String::new(),
                number => number.to_string(),
            };
            let class = (self.class)(monitor.copy, monitor.class);
            let place = self.place(monitor, waits).unwrap_or_default();
            let [process, class, place] = [self.name, &*java_class(&class), &place].map(machine::field);
            writeln!(out, "{process},{number},{class}{},{place}", fields(&waits.all))?;
        }
        Ok(())
    }

    fn thread_rows(&self, out: &mut dyn Write, options: &Options<'_>) -> Result<(), Error> {
        let known = |clock: u64| if clock > 0 { clock.to_string() } else { String::new() };
        for (thread, both) in self.thread_list(options).0 {
            let starter = if thread.starter > 0 {
                self.thread(thread.copy, thread.starter)
            } else {
                Default::default()
            };
            let name = self.thread(thread.copy, thread.number);
            let [process, name, group, parent, starter] =
                [self.name, name, &thread.group, &thread.group_parent, starter].map(machine::field);
            let (number, daemon, is_virtual) = (thread.number, thread.daemon, thread.virtual_thread);
            let (start, end) = (known(thread.start), known(thread.end));
            writeln!(
                out,
                "{process},{number},{name},{group},{parent},{daemon},{is_virtual},{start},{end},{starter}{}",
                fields(&both)
            )?;
        }
        Ok(())
    }
}
