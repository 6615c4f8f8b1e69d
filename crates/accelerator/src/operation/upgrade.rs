//! The hand-over of listening sockets from a running accelerator to the process that replaces it.
//!
//! | | the new process ([`Predecessor`]) | the old process ([`Successor`]) |
//! |---|---|---|
//! | 1 | connects to the control socket | |
//! | 2 | | sends duplicates of its listening sockets (`SCM_RIGHTS`) |
//! | 3 | starts; says that it is ready | |
//! | 4 | | stops as after SIGTERM |
//! | 5 | | closes the connection once it has stopped |
//!
//! Until step 3 the old process goes on as if nothing had been asked, and a new one that fails changes nothing. From
//! step 3 to 4 both accept from the same queues. Sockets of its own at the same address (`SO_REUSEPORT`) would not do:
//! each has its queue, and connections that wait in one when it is closed are lost.
//!
//! Each side checks that the other runs as the same user, or as root.

use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg, sockopt,
};
use rustix::process::geteuid;

use crate::frontend::InheritedSockets;

/// The longest wait for a message of the other side, which it has ready.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest wait for a new process to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(300);

/// The sockets in one message; the kernel takes at most 253.
const MESSAGE_SOCKETS_MAX: usize = 64;

/// The content of a message after which more sockets follow.
const MORE: u8 = b'+';

/// The content of the last message with sockets.
const LAST: u8 = b'.';

/// The message of a new process that is ready.
const READY: u8 = b'!';

/// The sockets, and the process, that an accelerator takes over at its start.
#[derive(Debug, Default)]
pub struct TakeOver {
    /// The listening sockets, those of the admin page among them.
    pub sockets: InheritedSockets,
    /// The process that had them; none if they are systemd's.
    pub predecessor: Option<Predecessor>,
}

/// Binds the control socket at which a new process asks for the listening sockets. A socket that a dead process has
/// left is replaced.
///
/// # Errors
/// If it cannot be bound.
pub fn bind_control_socket(path: &Path) -> io::Result<UnixListener> {
    if fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket()) {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The accelerator that this process replaces.
#[derive(Debug)]
pub struct Predecessor {
    connection: UnixStream,
    is_released: bool,
}

impl Predecessor {
    /// Asks the accelerator behind a control socket for its listening sockets; `None` if there is none.
    ///
    /// # Errors
    /// If there is one that does not answer, or that belongs to another user.
    pub fn ask(path: &Path) -> io::Result<Option<(Predecessor, Vec<OwnedFd>)>> {
        let connection = match UnixStream::connect(path) {
            Ok(connection) => connection,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        check_peer(&connection)?;
        connection.set_read_timeout(Some(MESSAGE_TIMEOUT))?;
        let mut sockets = Vec::new();
        while receive(&connection, &mut sockets)? == MORE {}
        Ok(Some((Predecessor { connection, is_released: false }, sockets)))
    }

    /// Tells it to stop, because this process accepts its connections.
    ///
    /// # Errors
    /// If it has ended meanwhile.
    pub fn release(&mut self) -> io::Result<()> {
        if !self.is_released {
            self.connection.write_all(&[READY])?;
            self.is_released = true;
        }
        Ok(())
    }

    /// Tells it to stop, and waits until it has.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn wait(&mut self) -> io::Result<()> {
        self.release()?;
        // It stops within its own time limit.
        self.connection.set_read_timeout(None)?;
        match self.connection.read(&mut [0]) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns whether an error of connecting means that nobody listens.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// A process that wants to replace this one; it learns from the drop that this one has stopped.
#[derive(Debug)]
pub struct Successor {
    _connection: UnixStream,
    process: i32,
}

impl Successor {
    /// Hands listening sockets to the process behind a connection to the control socket, and waits until it is ready;
    /// this may take minutes.
    ///
    /// # Errors
    /// If it belongs to another user, or ends before it is ready.
    pub fn hand_over(connection: UnixStream, sockets: &[OwnedFd]) -> io::Result<Successor> {
        let process = check_peer(&connection)?;
        connection.set_nonblocking(false)?;
        connection.set_write_timeout(Some(MESSAGE_TIMEOUT))?;
        connection.set_read_timeout(Some(READY_TIMEOUT))?;
        send(&connection, sockets)?;
        let mut said = [0];
        (&connection).read_exact(&mut said)?;
        if said != [READY] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Successor { _connection: connection, process })
    }

    /// Returns the number of the process.
    pub fn process(&self) -> i32 {
        self.process
    }
}

/// Returns the process behind a connection, if it runs as the same user as this one, or as root.
fn check_peer(connection: &UnixStream) -> io::Result<i32> {
    let peer = sockopt::socket_peercred(connection)?;
    if peer.uid != geteuid() && !peer.uid.is_root() {
        let text = format!("process {} at the other end belongs to another user", peer.pid);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(peer.pid.as_raw_nonzero().get())
}

/// Sends sockets, in as many messages as they need.
fn send(connection: &UnixStream, sockets: &[OwnedFd]) -> io::Result<()> {
    let mut parts = sockets.chunks(MESSAGE_SOCKETS_MAX).peekable();
    loop {
        let borrowed: Vec<BorrowedFd<'_>> =
            parts.next().unwrap_or_default().iter().map(AsFd::as_fd).collect();
        let content = [if parts.peek().is_some() { MORE } else { LAST }];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_SOCKETS_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        // A message of no descriptors is not valid; the space is for more than there are.
        if !borrowed.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
        }
        sendmsg(connection, &[IoSlice::new(&content)], &mut ancillary, SendFlags::NOSIGNAL)?;
        if content == [LAST] {
            return Ok(());
        }
    }
}

/// Receives one message with sockets, and returns its content.
fn receive(connection: &UnixStream, sockets: &mut Vec<OwnedFd>) -> io::Result<u8> {
    let mut content = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_SOCKETS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(connection, &mut [IoSliceMut::new(&mut content)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            sockets.extend(descriptors);
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other("there are not enough descriptors left for the sockets"));
    }
    match (received.bytes, content) {
        (0, _) => Err(io::ErrorKind::UnexpectedEof.into()),
        (_, [content @ (MORE | LAST)]) => Ok(content),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Makes a folder with a control socket in it.
    fn control() -> (tempfile::TempDir, std::path::PathBuf, UnixListener) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let listener = bind_control_socket(&path).unwrap();
        listener.set_nonblocking(false).unwrap();
        (folder, path, listener)
    }

    fn port(socket: &OwnedFd) -> u16 {
        TcpListener::from(socket.try_clone().unwrap()).local_addr().unwrap().port()
    }

    #[test]
    fn any_number_of_sockets_is_handed_over_before_the_old_process_has_to_stop() {
        for n in [0, 1, MESSAGE_SOCKETS_MAX, 2 * MESSAGE_SOCKETS_MAX + 1] {
            let (_folder, path, listener) = control();
            let own = TcpListener::bind("127.0.0.1:0").unwrap();
            let sockets: Vec<OwnedFd> = (0..n).map(|_| own.try_clone().unwrap().into()).collect();
            let old =
                std::thread::spawn(move || Successor::hand_over(listener.accept().unwrap().0, &sockets));
            let (mut predecessor, received) = Predecessor::ask(&path).unwrap().expect("one runs");
            assert_eq!(
                received.iter().map(port).collect::<Vec<_>>(),
                vec![own.local_addr().unwrap().port(); n]
            );
            assert!(!old.is_finished(), "nothing has been said yet");
            predecessor.release().unwrap();
            let successor = old.join().unwrap().unwrap();
            assert_eq!(successor.process(), std::process::id() as i32);
            drop(successor);
            predecessor.wait().unwrap();
        }
    }

    #[test]
    fn a_new_process_that_ends_or_talks_nonsense_takes_nothing_over() {
        for said in [&b""[..], b"?"] {
            let (_folder, path, listener) = control();
            let mut connection = UnixStream::connect(&path).unwrap();
            connection.write_all(said).unwrap();
            connection.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(Successor::hand_over(listener.accept().unwrap().0, &[]).is_err());
        }
    }

    #[test]
    fn a_socket_that_a_dead_process_has_left_is_replaced_and_other_files_are_not() {
        let (folder, path, listener) = control();
        drop(listener);
        assert!(Predecessor::ask(&path).unwrap().is_none());
        bind_control_socket(&path).unwrap();
        assert!(Predecessor::ask(&folder.path().join("none")).unwrap().is_none());
        let file = folder.path().join("file");
        fs::write(&file, "kept").unwrap();
        assert!(bind_control_socket(&file).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"kept");
    }
}
