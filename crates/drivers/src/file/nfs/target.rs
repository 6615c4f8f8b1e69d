//! The export that a run works in, and those in whose name it does.

use std::fmt;
use std::net::SocketAddr;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NfsVersion {
    /// NFS 3: no sessions, and here no locks.
    V3,
    /// NFS 4.1, with a session of each client.
    V4_1,
}

impl NfsVersion {
    /// All versions.
    pub const ALL: [NfsVersion; 2] = [NfsVersion::V3, NfsVersion::V4_1];

    /// Returns its name, as settings and reports have it: `v4.1`.
    pub fn name(self) -> &'static str {
        match self {
            NfsVersion::V3 => "v3",
            NfsVersion::V4_1 => "v4.1",
        }
    }
}

impl fmt::Display for NfsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NFS {}", self.name().trim_start_matches('v'))
    }
}

/// The user and the group in whose name calls are made, as the server is told (`AUTH_SYS`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsOwner {
    /// The number of the user.
    pub uid: u32,
    /// The number of the group.
    pub gid: u32,
    /// The name of this machine.
    pub machine: String,
}

impl NfsOwner {
    /// The most bytes of the name of a machine.
    const MACHINE_BYTES_MAX: usize = 255;

    /// Returns the user and the group of this process, or those that are given.
    pub fn of_process(given: Option<(u32, u32)>) -> NfsOwner {
        let own = || (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let (uid, gid) = given.unwrap_or_else(own);
        let mut machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        machine.retain(|c| c.is_ascii_graphic());
        machine.truncate(NfsOwner::MACHINE_BYTES_MAX);
        NfsOwner { uid, gid, machine }
    }
}

/// An export of a server, and a folder in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsTarget {
    /// The address, which the target policy has allowed.
    pub address: SocketAddr,
    /// The port of the service that mounts exports of version 3; `None` where the port mapper of the server is asked for it,
    /// and for that of the address, too.
    pub mount_port: Option<u16>,
    /// The path of the export and of the folder in it, with `/` between its parts.
    pub path: String,
    /// The version.
    pub version: NfsVersion,
    /// The user and the group.
    pub owner: NfsOwner,
}

impl NfsTarget {
    /// Returns the parts of the path.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter(|part| !part.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_made_in_the_name_of_the_process_or_of_whom_a_setting_names() {
        let own = NfsOwner::of_process(None);
        assert_eq!(own.uid, rustix::process::geteuid().as_raw());
        let given = NfsOwner::of_process(Some((1000, 100)));
        assert_eq!((given.uid, given.gid, &given.machine), (1000, 100, &own.machine));
        assert_eq!(NfsVersion::ALL.map(|version| version.to_string()), ["NFS 3", "NFS 4.1"]);
    }
}
