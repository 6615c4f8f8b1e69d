//! Accept queues of listening Unix sockets.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use model::{Counter, Reading};

use super::SOCK_DIAG_BY_FAMILY;
use super::listeners::LISTEN;
use crate::netlink::{Socket, attributes, u32_at, u64_of_u32};

/// `AF_UNIX`.
const UNIX: u8 = 1;
/// `UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN`. Source: Linux, include/uapi/linux/unix_diag.h.
const SHOW: u32 = 0x1 | 0x10;
/// Size of `struct unix_diag_msg`, after which attributes follow.
const MESSAGE_BYTES: usize = 16;
/// `UNIX_DIAG_NAME` and `UNIX_DIAG_RQLEN`.
const NAME: u16 = 0;
const QUEUE: u16 = 4;

/// The accept queue of one socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnixAcceptQueue {
    pub(super) inode: u64,
    pub(super) path: String,
    waiting: u32,
    waiting_max: u32,
}

/// Returns the accept queues of all listening sockets.
pub(super) fn dump(socket: &mut Socket) -> io::Result<Vec<UnixAcceptQueue>> {
    let mut queues = Vec::new();
    socket.dump(SOCK_DIAG_BY_FAMILY, &request(), |payload| queues.extend(parse(payload)))?;
    Ok(queues)
}

/// Reports the accept queues of the server's own sockets by path.
pub(super) fn report(queues: &[UnixAcceptQueue], owned: &BTreeSet<u64>, into: &mut Vec<Reading>) {
    let mut paths: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for one in queues.iter().filter(|one| owned.contains(&one.inode)) {
        let sum = paths.entry(&one.path).or_default();
        sum.0 += u64::from(one.waiting);
        sum.1 += u64::from(one.waiting_max);
    }
    for (path, (waiting, waiting_max)) in paths {
        into.push(Reading::of(Counter::UnixAcceptQueue, path, waiting));
        into.push(Reading::of(Counter::UnixAcceptQueueMax, path, waiting_max));
    }
}

/// Builds a request for listening sockets: `struct unix_diag_req`.
fn request() -> Vec<u8> {
    let mut request = vec![UNIX, 0, 0, 0];
    request.extend(LISTEN.to_ne_bytes());
    request.extend(0u32.to_ne_bytes());
    request.extend(SHOW.to_ne_bytes());
    request.extend([0; 8]);
    request
}

/// Parses the name of a socket; empty without one. That of an abstract socket begins with a zero byte, shown as `@`.
pub(super) fn socket_name(payload: &[u8]) -> Option<String> {
    let name = attributes(payload.get(MESSAGE_BYTES..)?).find(|(kind, _)| *kind == NAME);
    let name = name.map(|(_, name)| name).unwrap_or_default();
    let name = match name.split_first() {
        Some((0, rest)) => format!("@{}", String::from_utf8_lossy(rest)),
        _ => String::from_utf8_lossy(name).into_owned(),
    };
    Some(name.trim_end_matches('\0').to_owned())
}

/// Parses `struct unix_diag_msg`: four bytes, the inode, a cookie; then attributes.
pub(super) fn parse(payload: &[u8]) -> Option<UnixAcceptQueue> {
    let find = |kind| {
        attributes(payload.get(MESSAGE_BYTES..)?).find_map(|(known, value)| (known == kind).then_some(value))
    };
    let numbers = find(QUEUE)?;
    Some(UnixAcceptQueue {
        inode: u64_of_u32(payload, 4)?,
        path: socket_name(payload)?,
        waiting: u32_at(numbers, 0)?,
        waiting_max: u32_at(numbers, 4)?,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::super::{ListenerChoice, Netlink};
    use super::*;
    use crate::watch::holders_among;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn name_and_queue_are_parsed() {
        let mut payload = vec![0; MESSAGE_BYTES];
        payload[4..8].copy_from_slice(&77u32.to_ne_bytes());
        assert_eq!(parse(&payload), None);
        let numbers = [3u32.to_ne_bytes(), 511u32.to_ne_bytes()].concat();
        for (name, path) in [(&b"/run/php.sock\0"[..], "/run/php.sock"), (b"\0hidden", "@hidden")] {
            let bytes = [payload.clone(), attribute(NAME, name), attribute(QUEUE, &numbers)].concat();
            let queue = UnixAcceptQueue { inode: 77, path: path.into(), waiting: 3, waiting_max: 511 };
            assert_eq!(parse(&bytes), Some(queue));
        }
    }

    /// Goal: connections that wait at a Unix socket are counted. Without the kernel module there is no reading.
    #[test]
    fn unaccepted_connections_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _listener = UnixListener::bind(&path).unwrap();
        let _waiting = [(); 2].map(|()| UnixStream::connect(&path).unwrap());
        // The inode of the socket is not that of its file.
        assert!(std::fs::metadata(&path).unwrap().ino() != 0);
        let mut socket = Socket::open(Some(rustix::net::netlink::SOCK_DIAG)).unwrap();
        let Ok(all) = dump(&mut socket) else { return };
        let Some(own) = all.iter().find(|one| one.path == path.to_str().unwrap()) else {
            assert_eq!(all, [], "listening sockets are reported, but not this one");
            return;
        };
        let owned = BTreeSet::from([own.inode]);
        assert_eq!(holders_among(&owned, &[std::process::id()]).by_inode.len(), 1);
        let mut readings = Vec::new();
        Netlink::default().read(&ListenerChoice::Of { ports: &[], owned: &owned }, &[], &mut readings);
        let value = |counter| readings.iter().find(|one| one.counter == counter).map(|one| one.value);
        assert_eq!(value(Counter::UnixAcceptQueue), Some(2));
        assert!(value(Counter::UnixAcceptQueueMax).is_some_and(|most| 2 < most));
    }
}
