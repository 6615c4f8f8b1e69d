//! The addresses of users, on the server under test and on the servers that messages leave it for.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The most users of a directory.
pub const DIRECTORY_USERS_MAX: usize = 10_000_000;

/// The longest name of a user, and of a domain, in bytes (RFC 5321, 4.5.3.1).
const LOCAL_PART_MAX: usize = 64;
const DOMAIN_MAX: usize = 200;

/// The one to whom a message is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recipient {
    /// A user of the server under test, by its number.
    User(u32),
    /// A mailbox of a destination server.
    Sink {
        /// The number of the server, from 0.
        server: u8,
        /// The number of the user whose mailbox it stands for.
        user: u32,
    },
}

/// The users of a server by their numbers, with their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailDirectory {
    names: UserNames,
    domain: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum UserNames {
    /// A prefix and the number of the user plus one: `mail1`.
    Numbered {
        prefix: Arc<str>,
        n_users: u32,
    },
    Listed(Arc<[String]>),
}

/// A directory that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DirectoryError {
    /// No user.
    #[error("a directory needs at least one user")]
    Empty,
    /// More users than a directory can have.
    #[error("{0} users are more than the {DIRECTORY_USERS_MAX} that a directory can have")]
    TooManyUsers(usize),
    /// A name that cannot stand in an address as it is.
    #[error(
        "`{0}` cannot be the name of a user: 1 to 64 letters, digits, `-`, `_`, `+` and single dots inside are"
    )]
    Name(String),
    /// A domain that cannot stand in an address.
    #[error("`{0}` cannot be a domain: 1 to 200 letters, digits, `-` and single dots inside are")]
    Domain(String),
    /// Two users of one name: their mail would be in one mailbox. Case is no difference.
    #[error("the name `{0}` is there twice")]
    Duplicate(String),
}

impl MailDirectory {
    /// Makes a directory of users with numbered names: of `mail` and 1,000 users, `mail1` to `mail1000`.
    ///
    /// # Errors
    ///
    /// When there are no users or too many, or prefix or domain cannot be part of an address.
    pub fn numbered(prefix: &str, n_users: u32, domain: &str) -> Result<MailDirectory, DirectoryError> {
        check_number(n_users as usize)?;
        let longest = format!("{prefix}{n_users}");
        if !is_local_part(&longest) {
            return Err(DirectoryError::Name(longest));
        }
        let names = UserNames::Numbered { prefix: prefix.into(), n_users };
        Ok(MailDirectory { names, domain: checked_domain(domain)? })
    }

    /// Makes a directory of the users that are listed, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// When there are no users or too many, two have one name, or a name or the domain cannot be part of an address.
    pub fn listed(names: Vec<String>, domain: &str) -> Result<MailDirectory, DirectoryError> {
        check_number(names.len())?;
        let mut known = BTreeSet::new();
        for name in &names {
            if !is_local_part(name) {
                return Err(DirectoryError::Name(shortened(name)));
            }
            if !known.insert(name.to_ascii_lowercase()) {
                return Err(DirectoryError::Duplicate(name.clone()));
            }
        }
        Ok(MailDirectory { names: UserNames::Listed(names.into()), domain: checked_domain(domain)? })
    }

    /// Returns the number of users.
    pub fn n_users(&self) -> u32 {
        match &self.names {
            UserNames::Numbered { n_users, .. } => *n_users,
            UserNames::Listed(names) => names.len() as u32,
        }
    }

    /// Returns the domain of the server under test.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the name of a user, with which it logs on. Numbers behind the last begin again with the first.
    pub fn user_name(&self, user: u32) -> UserName<'_> {
        UserName { directory: self, user }
    }

    /// Returns the address of a recipient. Those of destination servers have a domain of their own below that of the
    /// server under test: `mail7@sink1.bench.test`.
    pub fn address(&self, recipient: Recipient) -> MailAddress<'_> {
        MailAddress { directory: self, recipient }
    }
}

/// The name of a user, as it is written.
#[derive(Debug, Clone, Copy)]
pub struct UserName<'a> {
    directory: &'a MailDirectory,
    user: u32,
}

/// The address of a recipient, as it is written.
#[derive(Debug, Clone, Copy)]
pub struct MailAddress<'a> {
    directory: &'a MailDirectory,
    recipient: Recipient,
}

impl fmt::Display for UserName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.directory.names {
            UserNames::Numbered { prefix, n_users } => write!(f, "{prefix}{}", self.user % n_users + 1),
            UserNames::Listed(names) => f.write_str(&names[self.user as usize % names.len()]),
        }
    }
}

impl fmt::Display for MailAddress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MailAddress { directory, recipient } = self;
        match *recipient {
            Recipient::User(user) => write!(f, "{}@{}", directory.user_name(user), directory.domain),
            Recipient::Sink { server, user } => {
                let server = u32::from(server) + 1;
                write!(f, "{}@sink{server}.{}", directory.user_name(user), directory.domain)
            }
        }
    }
}

fn check_number(n_users: usize) -> Result<(), DirectoryError> {
    match n_users {
        0 => Err(DirectoryError::Empty),
        _ if DIRECTORY_USERS_MAX < n_users => Err(DirectoryError::TooManyUsers(n_users)),
        _ => Ok(()),
    }
}

fn checked_domain(domain: &str) -> Result<Arc<str>, DirectoryError> {
    if is_dotted(domain, DOMAIN_MAX, b"-") {
        Ok(domain.into())
    } else {
        Err(DirectoryError::Domain(shortened(domain)))
    }
}

fn is_local_part(name: &str) -> bool {
    is_dotted(name, LOCAL_PART_MAX, b"-_+")
}

/// Returns whether a text has letters, digits and some other characters, with dots only between them.
fn is_dotted(text: &str, length_max: usize, others: &[u8]) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
    };
    text.len() <= length_max && text.split('.').all(is_part)
}

/// Returns what fits into a message.
fn shortened(text: &str) -> String {
    text.chars().take(LOCAL_PART_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str]) -> Result<MailDirectory, DirectoryError> {
        MailDirectory::listed(names.iter().map(|name| (*name).to_owned()).collect(), "bench.test")
    }

    #[test]
    fn users_are_numbered_from_one_and_destination_servers_have_their_own_domains() {
        let directory = MailDirectory::numbered("mail", 1000, "bench.test").unwrap();
        let names = [0, 999, 1000].map(|user| directory.user_name(user).to_string());
        assert_eq!(names, ["mail1", "mail1000", "mail1"]);
        let addresses = [Recipient::User(6), Recipient::Sink { server: 2, user: 6 }]
            .map(|one| directory.address(one).to_string());
        assert_eq!(addresses, ["mail7@bench.test", "mail7@sink3.bench.test"]);
        assert_eq!((directory.n_users(), directory.domain()), (1000, "bench.test"));
    }

    #[test]
    fn listed_users_have_their_names() {
        let directory = listed(&["anna", "Bo.b-2"]).unwrap();
        assert_eq!(directory.address(Recipient::User(1)).to_string(), "Bo.b-2@bench.test");
        assert_eq!(directory.n_users(), 2);
    }

    #[test]
    fn directories_that_cannot_be_are_refused() {
        assert_eq!(listed(&[]), Err(DirectoryError::Empty));
        assert_eq!(listed(&["anna", "Anna"]), Err(DirectoryError::Duplicate("Anna".to_owned())));
        let long = "a".repeat(65);
        for name in ["", "a b", "a@b", ".a", "a..b", "a\r\nRCPT", "é", "<a>", long.as_str()] {
            assert!(matches!(listed(&[name]), Err(DirectoryError::Name(_))), "{name}");
            if !name.is_empty() {
                assert!(
                    matches!(MailDirectory::numbered(name, 5, "b.test"), Err(DirectoryError::Name(_))),
                    "{name}"
                );
            }
        }
        for domain in ["", "a b", "-.", "a_b"] {
            assert!(
                matches!(MailDirectory::numbered("u", 5, domain), Err(DirectoryError::Domain(_))),
                "{domain}"
            );
        }
        assert_eq!(MailDirectory::numbered("u", 0, "b.test"), Err(DirectoryError::Empty));
        let error = MailDirectory::numbered("u", u32::MAX, "b.test").unwrap_err();
        assert_eq!(
            error.to_string(),
            "4294967295 users are more than the 10000000 that a directory can have"
        );
    }
}
