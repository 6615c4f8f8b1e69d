//! Listening sockets: one per worker at the same address, among which the kernel distributes the clients.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use rustix::net::sockopt;
use socket2::{Domain, Protocol, Socket, Type};

use super::socket_calls::defer_accept;

/// The accept backlog; the kernel takes the smaller of this and `net.core.somaxconn`, which is 4096 on today's
/// systems.
pub(super) const BACKLOG: i32 = 4096;

/// Binds an address with as many listening sockets as there are workers.
///
/// # Errors
/// If the address cannot be bound; also if another program listens there, even one that would share it.
pub(super) fn listen(address: SocketAddr, workers: usize) -> io::Result<Vec<Socket>> {
    let explain =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"));
    // Among sockets that share an address nobody would notice a second program, which gets every other client.
    bind(address, false).map(drop).map_err(explain)?;
    let first = bind(address, true).map_err(explain)?;
    let address = address_of(&first)?;
    let mut sockets = vec![first];
    for _ in 1..workers {
        sockets.push(bind(address, true).map_err(explain)?);
    }
    sockets.iter().try_for_each(|socket| socket.listen(BACKLOG)).map_err(explain)?;
    Ok(sockets)
}

fn bind(address: SocketAddr, is_shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    sockopt::set_socket_reuseport(&socket, is_shared)?;
    set_options(&socket)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Sets the options of a listening socket that can be set at any time.
pub(super) fn set_options(socket: &Socket) -> io::Result<()> {
    // Accepted sockets inherit it. Without it the second of two responses would wait for an acknowledgement.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    // A kernel without it reports connections a little early.
    let _ = defer_accept(socket.as_fd());
    Ok(())
}

/// Returns the bound address of a listening socket.
pub(super) fn address_of(listener: &Socket) -> io::Result<SocketAddr> {
    listener.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    #[test]
    fn workers_share_one_address() {
        let sockets = listen(ANY, 3).unwrap();
        let addresses: Vec<_> = sockets.iter().map(|socket| address_of(socket).unwrap()).collect();
        assert_eq!(addresses, [addresses[0]; 3]);
        assert_ne!(addresses[0].port(), 0);
    }

    #[test]
    fn a_bound_address_is_not_shared_with_other_programs() {
        let sockets = listen(ANY, 1).unwrap();
        let address = address_of(&sockets[0]).unwrap();
        let error = listen(address, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().starts_with(&format!("cannot listen on {address}: ")), "{error}");
    }
}
