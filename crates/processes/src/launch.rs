//! A command as it is, with the agent: right behind `java`, or in the variable that every virtual machine obeys that a script starts.

use anyhow::Result;
use instrument_control::run::{FOR_CHILDREN, TOOL_OPTIONS};
use instrument_messages::usage;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::low_level::siginfo::{Cause, Sent};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use tempfile::NamedTempFile;

/// The signals that are passed on, from now on.
///
/// # Errors
/// The system refuses.
pub fn signals() -> Result<SignalsInfo<WithOrigin>> {
    Ok(SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])?)
}

/// A file that goes when this is dropped: where all temporary ones are, or in a folder that is to be written to anyhow, for a container may have no
/// other.
///
/// # Errors
/// Neither can be written to.
pub fn temporary_file(folder: &Path) -> Result<NamedTempFile> {
    NamedTempFile::new().or_else(|_| {
        std::fs::create_dir_all(folder)?;
        Ok(NamedTempFile::new_in(folder)?)
    })
}

/// As a shell gives it: 128 + N after signal N.
pub fn exit_code(status: ExitStatus) -> u8 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)) as u8
}

/// Whether a command is `java` itself.
pub fn is_java(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some(OsStr::new("java"))
}

/// The command with the agent, and whether it is `java` itself. `argument`: `-agentpath:LIBRARY=OPTIONS`.
///
/// # Errors
/// There is no command; an argument that the variable cannot have.
pub fn command(words: &[OsString], argument: &OsStr, no_children: bool) -> Result<(Command, bool)> {
    let (program, rest) = words.split_first().ok_or_else(|| usage("there is no command to run"))?;
    let mut command = Command::new(program);
    let is_java = is_java(program);
    let before = std::env::var_os(TOOL_OPTIONS);
    if is_java {
        command.arg(argument);
    } else {
        command.env(TOOL_OPTIONS, tool_options(before.clone(), argument)?);
    }
    let for_children = if no_children { before.unwrap_or_default() } else { tool_options(before, argument)? };
    command.env(FOR_CHILDREN, for_children);
    command.args(rest);
    Ok((command, is_java))
}

/// The variable with one more option. The virtual machine splits it at blanks that are not quoted.
fn tool_options(before: Option<OsString>, argument: &OsStr) -> Result<OsString> {
    let argument = argument.to_str().ok_or_else(|| usage("the path of the agent is not UTF-8"))?;
    let quote = ['\'', '"'].into_iter().find(|quote| !argument.contains(*quote));
    let quote = quote.ok_or_else(|| usage("an option of the agent holds both kinds of quotes"))?;
    let mut options = before.unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push(format!("{quote}{argument}{quote}"));
    Ok(options)
}

/// How a child ended.
#[derive(Debug)]
pub struct Ended {
    /// As the system tells it.
    pub status: ExitStatus,
    /// Somebody asked for its end meanwhile.
    pub was_asked: bool,
}

/// Signals that ask for the end.
const ASKING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The signal that has asked for the end since these signals were claimed or asked about, if one has. It forgets all of them.
pub fn asked_to_end(signals: &mut SignalsInfo<WithOrigin>) -> Option<i32> {
    signals
        .pending()
        .map(|origin| origin.signal)
        .fold(None, |asked, signal| asked.or(ASKING.contains(&signal).then_some(signal)))
}

/// Waits for the child. What a process has sent to us is sent on; what a terminal sends, the child gets from it as well.
///
/// # Errors
/// The system refuses.
pub fn wait(mut child: Child, mut signals: SignalsInfo<WithOrigin>) -> Result<Ended> {
    let handle = signals.handle();
    let pid = Pid::from_child(&child);
    let forwarder = std::thread::spawn(move || {
        let mut was_asked = false;
        for Origin { signal, cause, .. } in &mut signals {
            was_asked |= ASKING.contains(&signal);
            if matches!(cause, Cause::Sent(Sent::User | Sent::TKill | Sent::Queue))
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                // It may have ended just now.
                let _ = kill_process(pid, signal);
            }
        }
        was_asked
    });
    let status = child.wait();
    handle.close();
    let was_asked = forwarder.join().unwrap_or(false);
    let status = status?;
    // It may have ended of it before we knew.
    let was_ended = status.signal().is_some_and(|signal| ASKING.contains(&signal));
    Ok(Ended { status, was_asked: was_asked || was_ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        command.get_args().map(|word| word.to_str().unwrap()).collect()
    }

    #[test]
    fn the_agent_comes_right_behind_java() {
        let given = ["/jdk/bin/java", "-jar", "a.jar", "-agentpath:x"].map(OsString::from);
        for (no_children, for_children) in [(false, "'-agentpath:a=b'"), (true, "")] {
            let (command, is_java) = command(&given, OsStr::new("-agentpath:a=b"), no_children).unwrap();
            assert!(is_java);
            assert_eq!(words(&command), ["-agentpath:a=b", "-jar", "a.jar", "-agentpath:x"]);
            let set: Vec<_> = command.get_envs().collect();
            assert_eq!(set, [(OsStr::new(FOR_CHILDREN), Some(OsStr::new(for_children)))]);
        }
    }

    #[test]
    fn anything_else_gets_it_from_the_environment() {
        let (command, is_java) =
            command(&["./start.sh".into()], OsStr::new("-agentpath:a b=c"), true).unwrap();
        assert!(!is_java);
        assert_eq!(words(&command), [""; 0]);
        let value = command.get_envs().find(|(name, _)| *name == TOOL_OPTIONS).unwrap().1;
        assert!(value.unwrap().to_str().unwrap().ends_with("'-agentpath:a b=c'"));
        let both = tool_options(Some("-Xmx1g".into()), OsStr::new("-agentpath:it's")).unwrap();
        assert_eq!(both, "-Xmx1g \"-agentpath:it's\"");
        assert!(tool_options(None, OsStr::new("'\"")).is_err());
    }

    #[test]
    fn a_signal_that_came_while_nothing_ran_is_known_once() {
        let mut signals = signals().unwrap();
        let send = |signal| kill_process(rustix::process::getpid(), signal).unwrap();
        let asked = |signals: &mut SignalsInfo<WithOrigin>| {
            (0..100).find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                asked_to_end(signals)
            })
        };
        send(Signal::USR1);
        assert_eq!(asked(&mut signals), None);
        send(Signal::TERM);
        assert_eq!((asked(&mut signals), asked(&mut signals)), (Some(SIGTERM), None));
    }
}
