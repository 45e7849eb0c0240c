//! `instrument monitors`: see `instrument_analysis::report::monitors`.

use crate::exit::{Exit, usage};
use crate::subject::Subject;
use crate::talk::Talk;
use crate::view;
use anyhow::Result;
use clap::ValueEnum;
use instrument_analysis::report::monitors::{self, Process};
use instrument_analysis::waits;

/// Print what threads waited for: by monitor, with who had it; by thread; and where in the program
///
/// Locks of java.util.concurrent are listed like monitors, by the class of their synchronizer: contended is a thread that parks for a
/// lock, waiting one that parks for a condition, semaphore, queue or anything else; each park counts once.
/// Of programs that ran under `instrument run --monitors`, or with the agent's option threads=on. Contended is the time to enter a
/// monitor that another thread had, waiting the time in Object.wait. What had not ended counts up to the end. The time to enter a
/// synchronized method is that of the method that calls it: a method is recorded from when it has the monitor. In other reports these
/// times are the resources `contended` and `object-wait`, and part of `waiting`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    /// Rows of --csv
    #[arg(long, value_enum, default_value = "monitors", requires = "csv")]
    table: Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// One for each monitor
    Monitors,
    /// One for each thread
    Threads,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let subject = Subject::read(&opts.view.subject, false, talk)?;
    let recorded = subject.profiles.iter().filter_map(|file| Some((file, file.waits.as_ref()?)));
    let with_names = recorded.map(|(file, waits)| {
        let name = format!("{} (pid {})", file.program(), file.profile.pid);
        let classes = move |copy: u32, number: u32| file.names.class(copy, number);
        (file, waits, name, waits::names(&file.profile), classes)
    });
    let mut with_names: Vec<_> = with_names.collect();
    if with_names.is_empty() {
        return Err(usage("threads were not recorded: that takes `instrument run --monitors`"));
    }
    let wanted = crate::subject::thread_filter(&opts.view.subject);
    for (_, _, _, threads, _) in &mut with_names {
        threads.retain(|_, name| wanted(name));
    }
    let processes: Vec<_> = with_names
        .iter()
        .map(|(file, waits, name, threads, class)| Process {
            name,
            profile: &file.profile,
            waits,
            threads,
            class,
        })
        .collect();
    let table = match opts.table {
        Table::Monitors => monitors::Table::Monitors,
        Table::Threads => monitors::Table::Threads,
    };
    view::print(&opts.view.print, None, &subject, talk, |out, subject, _, options| {
        monitors::write(out, &processes, &subject.model, table, options)
    })
}
