//! `--host`: the same command line on another machine, over ssh, as git does it. No server of ours listens anywhere.
//!
//! 1. The words are those of this call, without `--host`, each quoted for the shell of the other machine.
//! 2. A terminal here is one there, so that `top` draws and Ctrl-C reaches the command; a page has one in any case.
//! 3. `view` serves a page on a port of the other machine's loopback address: ssh brings the same port here.

use anyhow::{Context, Result};
use instrument_messages::usage;
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, stdin, stdout};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::io::exit::Exit;

const OPTION: &str = "--host";

/// Becomes ssh, which runs the words of this call on `host`: signals reach ssh, and its exit code is ours. `port`: where they serve a page;
/// 0 if they leave it open.
///
/// # Errors
/// A host that would be an option of ssh; no ssh; no port.
pub(crate) fn run(host: &str, words: &[OsString], port: Option<u16>) -> Result<Exit> {
    if host.is_empty() || host.starts_with('-') {
        return Err(usage(format!("{OPTION} takes HOST or USER@HOST, as ssh does, not `{host}`")));
    }
    let mut words = without_option(words);
    let mut ssh = Command::new("ssh");
    if port.is_some() {
        // Even without a terminal here: what serves a page ends when this ends.
        ssh.arg("-tt");
    } else if stdin().is_terminal() && stdout().is_terminal() {
        ssh.arg("-t");
    }
    if let Some(wanted) = port {
        let port = if wanted == 0 { free_port()? } else { wanted };
        ssh.args(["-o", "ExitOnForwardFailure=yes", "-L", &format!("{port}:127.0.0.1:{port}")]);
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, [format!("--port={port}").into(), "--no-open".into()]);
    }
    let error = ssh.arg(host).arg(command(&words)).exec();
    Err(anyhow::Error::new(error).context("ssh is needed for --host"))
}

/// The words of the command for the other machine.
fn without_option(words: &[OsString]) -> Vec<OsString> {
    let mut rest = Vec::from([OsString::from("instrument")]);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if word == OPTION {
            words.next();
        } else if !word.as_bytes().starts_with(b"--host=") {
            rest.push(word.clone());
            continue;
        }
        // What follows may have an option of this name.
        rest.extend(words.cloned());
        break;
    }
    rest
}

/// One line for a POSIX shell.
fn command(words: &[OsString]) -> OsString {
    OsString::from_vec(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(&b' '))
}

fn quoted(word: &OsStr) -> Vec<u8> {
    let plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=,:@%+".contains(&byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A port that is free here; whether it is free there, too, shows when it is used.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    #[test]
    fn only_the_first_option_is_taken_out() {
        let given =
            words(&["/bin/instrument", "-q", "--host", "me@there", "run", "--", "curl", "--host", "x"]);
        let expected = words(&["instrument", "-q", "run", "--", "curl", "--host", "x"]);
        assert_eq!(without_option(&given), expected);
        let given = words(&["instrument", "--host=there", "report", "--host=x"]);
        assert_eq!(without_option(&given), words(&["instrument", "report", "--host=x"]));
    }

    #[test]
    fn a_shell_reads_the_words_as_they_are() {
        let given =
            words(&["printf", "%s|", "", "a b", "it's", "$HOME `id` \"\\", "a\nb", "*", "-x=1,2", "ä"]);
        let said = Command::new("sh").arg("-c").arg(command(&given)).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), "|a b|it's|$HOME `id` \"\\|a\nb|*|-x=1,2|ä|");
    }

    #[test]
    fn a_host_is_no_option_of_ssh() {
        let error = run("-oProxyCommand=id", &words(&["instrument", "top"]), None).unwrap_err();
        assert_eq!(error.to_string(), "--host takes HOST or USER@HOST, as ssh does, not `-oProxyCommand=id`");
    }
}
