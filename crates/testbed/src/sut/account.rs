//! The user account for servers that refuse to run as root.

use observe::{kernel_file, user_name};
use rustix::process::{getegid, geteuid};

/// Usual accounts for servers, in order of preference.
const USUAL: [&str; 4] = ["www-data", "http", "apache", "nobody"];

/// A user of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// Its name.
    pub name: String,
    /// The number of its group.
    pub gid: u32,
}

impl Account {
    /// Returns the account for servers: for root the first usual one of this machine, for other users their
    /// own.
    pub(crate) fn for_service() -> Account {
        let users = kernel_file::read("/etc/passwd").unwrap_or_default();
        let usual = || USUAL.iter().find_map(|name| Account::named(name, &users));
        let other = if geteuid().is_root() { usual() } else { None };
        other.unwrap_or_else(|| Account { name: user_name(), gid: getegid().as_raw() })
    }

    /// Parses lines `name:x:uid:gid:...`.
    fn named(name: &str, users: &str) -> Option<Account> {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        Some(Account { name: name.to_owned(), gid: line.split(':').nth(3)?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_complete_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\nnobody2:x:1:1::/:\nnobody:x:65534:65533:n:/:/x";
        assert_eq!(Account::named("nobody", users), Some(Account { name: "nobody".into(), gid: 65_533 }));
        assert_eq!(Account::named("www-data", users), None);
    }
}
