//! Work in the network namespace of another process: the only source that starts a thread, which enters the namespace
//! and ends. Sockets that are opened there stay in that namespace, whichever thread uses them.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Calls a function in the network namespace of a process.
///
/// # Errors
/// The process has ended, or this user may not enter its namespace.
pub(crate) fn in_network_of<T: Send>(pid: u32, call: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let link = File::open(format!("/proc/{pid}/ns/net"))?;
    let entered = || {
        move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network))?;
        call()
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(entered);
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace ended early")))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    /// Goal: the calling thread stays where it is. Only root may enter a namespace, even its own.
    #[test]
    fn the_calling_thread_stays_in_its_namespace() {
        let namespace = || std::fs::metadata("/proc/thread-self/ns/net").map(|found| found.ino());
        let before = namespace().unwrap();
        let inside = in_network_of(std::process::id(), namespace);
        assert_eq!(namespace().unwrap(), before);
        if rustix::process::geteuid().is_root() {
            assert_eq!(inside.unwrap(), before);
        }
        // No process has this number: the kernel's maximum is 2²².
        assert!(in_network_of(1 << 23, namespace).is_err());
    }
}
