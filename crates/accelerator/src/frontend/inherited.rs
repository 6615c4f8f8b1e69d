//! Listening sockets that another process has opened: systemd, or the accelerator that this one replaces.
//!
//! Their accept queues outlive each process that uses them, so no client is refused between two of them. A listener
//! has the sockets that are bound to its address, however many there are: workers share one, or have one each.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{SocketType, sockopt};
use socket2::Socket;

use super::socket::{address_of, set_options};

/// Inherited listening sockets that no listener has taken yet, by the address to which they are bound.
#[derive(Debug, Default)]
pub struct InheritedSockets {
    groups: Vec<(SocketAddr, Vec<Socket>)>,
}

impl InheritedSockets {
    /// Adds a listening TCP socket.
    ///
    /// # Errors
    /// If the descriptor is something else.
    pub fn add(&mut self, descriptor: OwnedFd) -> io::Result<()> {
        let (address, socket) = listening(descriptor)?;
        match self.groups.iter_mut().find(|(other, _)| *other == address) {
            Some((_, sockets)) => sockets.push(socket),
            None => self.groups.push((address, vec![socket])),
        }
        Ok(())
    }

    /// Takes the sockets for a configured address; none if there are none. Port 0, which means any, takes those of a
    /// port that is not in `configured`.
    pub(crate) fn take(&mut self, address: SocketAddr, configured: &[SocketAddr]) -> Vec<Socket> {
        let is_it = |bound: SocketAddr| match address.port() {
            0 => bound.ip() == address.ip() && !configured.contains(&bound),
            _ => bound == address,
        };
        let found = self.groups.iter().position(|(bound, _)| is_it(*bound));
        found.map_or_else(Vec::new, |index| self.groups.remove(index).1)
    }

    /// Returns the addresses of the sockets that were not taken.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.groups.iter().map(|(address, _)| *address)
    }
}

/// Checks that a descriptor is a listening TCP socket, and sets the options that ours have.
fn listening(descriptor: OwnedFd) -> io::Result<(SocketAddr, Socket)> {
    let is_listening = sockopt::socket_type(&descriptor).is_ok_and(|kind| kind == SocketType::STREAM)
        && sockopt::socket_acceptconn(&descriptor).unwrap_or(false);
    let socket = Socket::from(descriptor);
    let address = address_of(&socket).ok().filter(|_| is_listening);
    let Some(address) = address else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a listening TCP socket"));
    };
    set_options(&socket)?;
    Ok((address, socket))
}

/// Deals the sockets of one address to workers: each socket has a worker, and each worker a socket, a shared one if
/// there are fewer sockets.
pub(super) fn deal(sockets: &[Socket], workers: usize) -> io::Result<Vec<Vec<Socket>>> {
    let is_for = |worker: usize, index: usize| {
        if sockets.len() < workers { index == worker % sockets.len() } else { index % workers == worker }
    };
    let of = |worker: usize| {
        let own = sockets.iter().enumerate().filter(|(index, _)| is_for(worker, *index));
        own.map(|(_, socket)| socket.try_clone()).collect()
    };
    (0..workers).map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    fn listener() -> (SocketAddr, OwnedFd) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        (listener.local_addr().unwrap(), listener.into())
    }

    fn ports(sockets: &[Socket]) -> Vec<u16> {
        sockets.iter().map(|socket| address_of(socket).unwrap().port()).collect()
    }

    #[test]
    fn sockets_are_taken_by_address_and_port_0_takes_one_that_is_not_configured() {
        let ((first, one), (second, other)) = (listener(), listener());
        let mut inherited = InheritedSockets::default();
        for socket in [one, other.try_clone().unwrap(), other] {
            inherited.add(socket).unwrap();
        }
        assert_eq!(inherited.addresses().collect::<Vec<_>>(), [first, second]);
        let any = SocketAddr::new(first.ip(), 0);
        assert!(inherited.take("127.0.0.2:0".parse().unwrap(), &[]).is_empty());
        assert_eq!(ports(&inherited.take(any, &[any, first])), [second.port(); 2]);
        assert!(inherited.take(any, &[any, first]).is_empty());
        assert_eq!(ports(&inherited.take(first, &[any, first])), [first.port()]);
        assert_eq!(inherited.addresses().count(), 0);
    }

    #[test]
    fn only_listening_tcp_sockets_are_inherited() {
        let connected =
            std::net::TcpStream::connect(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (file, _writer) = std::io::pipe().unwrap();
        for other in [connected.unwrap().into(), datagrams.into(), OwnedFd::from(file)] {
            let error = InheritedSockets::default().add(other).unwrap_err();
            assert_eq!(error.to_string(), "it is not a listening TCP socket");
        }
    }

    #[test]
    fn every_socket_has_a_worker_and_every_worker_a_socket() {
        let sockets: Vec<_> = (0..3).map(|_| Socket::from(listener().1)).collect();
        let port = ports(&sockets);
        let dealt = |n: usize, workers| {
            deal(&sockets[..n], workers).unwrap().iter().map(|own| ports(own)).collect::<Vec<_>>()
        };
        assert_eq!(dealt(3, 3), [[port[0]], [port[1]], [port[2]]]);
        assert_eq!(dealt(1, 3), [[port[0]]; 3]);
        assert_eq!(dealt(2, 3), [[port[0]], [port[1]], [port[0]]]);
        assert_eq!(dealt(3, 2), [vec![port[0], port[2]], vec![port[1]]]);
        assert_eq!(dealt(3, 1), [port]);
    }
}
