//! Listening sockets, and handling of failed accepts, for all servers.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Default accept backlog; the kernel takes the smaller of this and `net.core.somaxconn`, which is 4096 on
/// current systems.
pub(crate) const BACKLOG: u32 = 4096;

/// Time without accepting after the kernel [ran out](is_exhausted) of descriptors or memory.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Listens on a TCP address; port 0 lets the kernel choose.
pub(crate) fn listen_tcp(address: SocketAddr, backlog: u32) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    // Accepted sockets inherit the option. Without it the second of two pipelined responses, or the last
    // piece of a large page, would wait for an acknowledgement.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    socket.listen(backlog.try_into().unwrap_or(i32::MAX))?;
    Ok(socket)
}

/// Listens on a Unix socket that every user of the machine may connect to; replaces a socket without a
/// listener.
pub(crate) fn listen_unix(path: &Path) -> io::Result<Socket> {
    remove_left_over(path)?;
    let name = SockAddr::unix(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&name)?;
    fs::set_permissions(path, Permissions::from_mode(0o666))?;
    socket.listen(BACKLOG as i32)?;
    Ok(socket)
}

/// Removes a socket without a listener.
fn remove_left_over(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).is_err_and(refused) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Returns the address of a TCP listener.
pub(crate) fn address_of(listener: &Socket) -> io::Result<SocketAddr> {
    listener.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Returns whether accepting failed for lack of descriptors or memory, which may be temporary.
pub(crate) fn is_exhausted(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
}
