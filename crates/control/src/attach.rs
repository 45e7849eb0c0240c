//! What `instrument attach` and the agent that it loads hand to each other: a file. Its path is all that goes through the attach protocol,
//! as `@PATH`, so that options may be of any length and hold any character.
//!
//! The command line writes the options into it as [`keys`](crate::keys) has them, and keeps it open. The agent opens it, removes its name,
//! reads the options, starts, and writes its answer in their place: a line as of [`ctl`](crate::ctl),
//! `{"v":1,"ok":{"profile":"/tmp/app-7.iprof","unmatched":[["include","a.**"]]}}` or `{"v":1,"error":"why not"}`. `unmatched`: patterns that
//! nothing which is loaded so far fits, each with its option.
//!
//! The command line keeps the file locked (`flock`) as long as it waits for the answer, and with [`keys::TIED`](crate::keys::TIED) as long as
//! the recording is to last. If the agent can lock it, nobody waits any more: it takes everything back.

use std::path::Path;

/// The options of an agent that is to take them from a file.
pub fn from_file(file: &str) -> String {
    format!("@{file}")
}

/// The file that options are to be taken from; none: they are options themselves.
pub fn file_of(options: &str) -> Option<&Path> {
    options.strip_prefix('@').map(Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_sign() {
        assert_eq!(file_of(&from_file("/tmp/a,b=c")), Some(Path::new("/tmp/a,b=c")));
        assert_eq!(file_of("out=/tmp/@x"), None);
        assert_eq!(file_of(""), None);
    }
}
