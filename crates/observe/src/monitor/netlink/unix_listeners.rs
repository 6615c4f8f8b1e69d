//! Accept queues of listening Unix sockets.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use model::{Counter, Reading};

use crate::netlink::{Socket, u32_at};
use crate::sock_diag::{LISTEN, SHOW_NAME, SHOW_QUEUE, dump_unix, unix_attribute, unix_inode, unix_name};

/// `UNIX_DIAG_RQLEN`.
const QUEUE: u16 = 4;

/// The accept queue of one socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::monitor) struct UnixAcceptQueue {
    pub(in crate::monitor) inode: u64,
    pub(in crate::monitor) path: String,
    pub(in crate::monitor) waiting: u32,
    pub(in crate::monitor) waiting_max: u32,
}

/// Returns the accept queues of all listening sockets.
pub(super) fn dump(socket: &mut Socket) -> io::Result<Vec<UnixAcceptQueue>> {
    let mut queues = Vec::new();
    dump_unix(socket, LISTEN, SHOW_NAME | SHOW_QUEUE, |payload| queues.extend(parse(payload)))?;
    Ok(queues)
}

impl UnixAcceptQueue {
    /// Reports the accept queues of the server's own sockets by path.
    pub(in crate::monitor) fn report(
        queues: &[UnixAcceptQueue],
        owned: &BTreeSet<u64>,
        into: &mut Vec<Reading>,
    ) {
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
}

/// Parses `struct unix_diag_msg`: four bytes, the inode, a cookie; then attributes.
pub(super) fn parse(payload: &[u8]) -> Option<UnixAcceptQueue> {
    let numbers = unix_attribute(payload, QUEUE)?;
    Some(UnixAcceptQueue {
        inode: unix_inode(payload)?,
        path: unix_name(payload),
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
    use crate::netlink::testing::attribute_bytes;
    use crate::sock_diag::{UNIX_MESSAGE_BYTES, UNIX_NAME};
    use crate::watch::holders_among;

    #[test]
    fn name_and_queue_are_parsed() {
        let mut payload = vec![0; UNIX_MESSAGE_BYTES];
        payload[4..8].copy_from_slice(&77u32.to_ne_bytes());
        assert_eq!(parse(&payload), None);
        let numbers = [3u32.to_ne_bytes(), 511u32.to_ne_bytes()].concat();
        for (name, path) in [(&b"/run/php.sock\0"[..], "/run/php.sock"), (b"\0hidden", "@hidden")] {
            let attributes = [attribute_bytes(UNIX_NAME, name), attribute_bytes(QUEUE, &numbers)];
            let bytes = [payload.clone(), attributes.concat()].concat();
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
        Netlink::default().read(&ListenerChoice::Of { ports: &[], owned: &owned }, Vec::new, &mut readings);
        let value = |counter| readings.iter().find(|one| one.counter == counter).map(|one| one.value);
        assert_eq!(value(Counter::UnixAcceptQueue), Some(2));
        assert!(value(Counter::UnixAcceptQueueMax).is_some_and(|most| 2 < most));
    }
}
