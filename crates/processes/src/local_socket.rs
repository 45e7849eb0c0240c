//! Unix sockets of other processes, which may be stopped or have no time.

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Connects to the socket at `path`.
///
/// # Errors
/// As of [`UnixStream::connect`]; [`ErrorKind::TimedOut`] if the listener has not made room for the connection within `limit`.
pub(crate) fn connect_to(path: impl AsRef<Path>, limit: Duration) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(path.as_ref())?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux takes the limit of sending for connecting, too.
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    connect(&socket, &address).map_err(|error| match io::Error::from(error) {
        error if error.kind() == ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        error => error,
    })?;
    Ok(UnixStream::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen};

    #[test]
    fn a_listener_with_a_full_queue_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&listener, 0).unwrap();
        let _first = connect_to(&path, Duration::from_millis(50)).unwrap();
        assert_eq!(connect_to(&path, Duration::from_millis(50)).unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
