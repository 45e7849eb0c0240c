//! Who is at the other end of a Unix socket.

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use std::io;
use std::os::unix::net::UnixStream;

/// The process at the other end, as it was when it connected or began to listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// None: it is outside of our process namespace, as the host of a container is for what runs in it.
    pub pid: Option<u32>,
    /// Its user; 65534 if our user namespace does not know it.
    pub uid: u32,
}

impl Peer {
    /// The one that this socket is connected to.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn of(socket: &UnixStream) -> io::Result<Peer> {
        let peer = getsockopt(socket, PeerCredentials)?;
        Ok(Peer { pid: u32::try_from(peer.pid()).ok().filter(|&pid| pid != 0), uid: peer.uid() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_our_own_peer() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        assert_eq!(Peer::of(&ours).unwrap().pid, Some(std::process::id()));
    }
}
