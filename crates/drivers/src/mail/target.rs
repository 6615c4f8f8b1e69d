//! The server that users have their mailboxes on, their accounts, and what their mail programs do with what they read.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use mail::{DeliveryLedger, MailMessages, Mailbox, MessageDepth, Recipient};
use model::MailSecurity;

use crate::net::Trust;

/// The encryption of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailEncryption {
    /// None.
    None,
    /// TLS, which the client asks for (STARTTLS).
    StartTls,
    /// TLS from the first byte (RFC 8314).
    Implicit,
}

impl From<MailSecurity> for MailEncryption {
    fn from(security: MailSecurity) -> MailEncryption {
        match security {
            MailSecurity::Off => MailEncryption::None,
            MailSecurity::StartTls => MailEncryption::StartTls,
            MailSecurity::On => MailEncryption::Implicit,
        }
    }
}

/// The place of a service of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MailEndpoint {
    /// The address, which the target policy has allowed.
    pub address: SocketAddr,
    /// The encryption of connections with it.
    pub encryption: MailEncryption,
}

/// A mail server with its services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailTarget {
    /// The server as named, which a certificate has to be for.
    pub host: String,
    /// Mailboxes, over IMAP.
    pub mailboxes: MailEndpoint,
    /// Submission of messages, over SMTP.
    pub submission: MailEndpoint,
    /// Delivery into mailboxes, over LMTP, by which they are filled before load; `None` if nobody fills them.
    pub delivery: Option<MailEndpoint>,
    /// The certificates that are accepted.
    pub trust: Trust,
}

/// A password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct MailPassword(String);

impl MailPassword {
    /// Makes a password.
    pub fn new(text: impl Into<String>) -> MailPassword {
        MailPassword(text.into())
    }

    /// Returns the password, for the server and for the encrypted link to a load agent.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for MailPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MailPassword")
    }
}

/// The form of the names with which users log on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailLogin {
    /// The name alone: `mail1`.
    Name,
    /// The address: `mail1@bench.test`.
    Address,
}

/// The accounts of users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailAccounts {
    /// The form of their names.
    pub login: MailLogin,
    /// Their passwords by the numbers of users; those behind the last have the last one.
    pub passwords: Arc<[MailPassword]>,
}

impl MailAccounts {
    /// Makes accounts that have one password.
    pub fn with_password(login: MailLogin, password: MailPassword) -> MailAccounts {
        MailAccounts { login, passwords: Arc::new([password]) }
    }

    /// Returns the name with which a user logs on.
    pub(super) fn name(&self, messages: &MailMessages, user: u32) -> String {
        let directory = &messages.directory;
        match self.login {
            MailLogin::Name => directory.user_name(user).to_string(),
            MailLogin::Address => directory.address(Recipient::User(user)).to_string(),
        }
    }

    /// Returns the password of a user; empty if there is none at all.
    pub(super) fn password(&self, user: u32) -> &str {
        let own = self.passwords.get(user as usize).or(self.passwords.last());
        own.map_or("", MailPassword::text)
    }
}

/// The names of mailboxes on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailboxNames {
    /// The part before the names of a user's own mailboxes but INBOX: empty, or `INBOX.`
    pub own_prefix: String,
    /// The shared mailbox.
    pub shared: String,
}

impl MailboxNames {
    /// Returns the name of a mailbox.
    pub(super) fn name(&self, mailbox: Mailbox) -> String {
        match mailbox {
            Mailbox::Inbox => mailbox.name().to_owned(),
            Mailbox::Discussion => self.shared.clone(),
            Mailbox::Sent | Mailbox::Calendar | Mailbox::Archive => {
                format!("{}{}", self.own_prefix, mailbox.name())
            }
        }
    }
}

impl Default for MailboxNames {
    /// No part before them.
    fn default() -> MailboxNames {
        MailboxNames { own_prefix: String::new(), shared: Mailbox::Discussion.name().to_owned() }
    }
}

/// The acknowledgment of parts of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Acknowledgment {
    /// At once: a server that waits for it before it sends the next part does so for a round trip only.
    #[default]
    AtOnce,
    /// When the system chooses: some 40 ms later, unless a request is sent before.
    AsSystem,
}

impl Acknowledgment {
    /// All kinds with their names as values of a setting.
    pub const NAMES: [(Acknowledgment, &'static str); 2] =
        [(Acknowledgment::AtOnce, "at-once"), (Acknowledgment::AsSystem, "as-system")];
}

/// A ledger of deliveries that users of all load threads enter what they send and see into.
pub type SharedLedger = Arc<Mutex<DeliveryLedger>>;

/// The settings of mail programs.
#[derive(Debug, Clone)]
pub struct MailClientOptions {
    /// The messages of the run.
    pub messages: Arc<MailMessages>,
    /// The load point, as in [`mail::MessageIdentity::epoch`].
    pub epoch: u32,
    /// The depth to which messages that are read are verified.
    pub depth: MessageDepth,
    /// The accounts of users.
    pub accounts: MailAccounts,
    /// The names of mailboxes.
    pub names: MailboxNames,
    /// The acknowledgment of parts of a reply.
    pub acknowledgment: Acknowledgment,
    /// The ledger of deliveries; `None` if they are not followed, as where messages go to other servers.
    pub deliveries: Option<SharedLedger>,
}

#[cfg(test)]
mod tests {
    use mail::{MailDate, MailDirectory};

    use super::*;

    #[test]
    fn passwords_are_never_shown_and_the_last_one_is_that_of_all_others() {
        let passwords = ["pw-1", "pw-2"].map(MailPassword::new);
        let accounts = MailAccounts { login: MailLogin::Address, passwords: passwords.into() };
        assert!(!format!("{accounts:?}").contains("pw-"));
        assert_eq!([0, 1, 7].map(|user| accounts.password(user)), ["pw-1", "pw-2", "pw-2"]);
        let none = MailAccounts { login: MailLogin::Name, passwords: Arc::new([]) };
        assert_eq!(none.password(0), "");
        let directory = MailDirectory::numbered("mail", 9, "bench.test").unwrap();
        let messages = MailMessages::new(7, directory, MailDate::from_unix_seconds(0));
        assert_eq!(accounts.name(&messages, 1), "mail2@bench.test");
        assert_eq!(none.name(&messages, 1), "mail2");
    }

    #[test]
    fn mailboxes_have_the_names_that_their_server_gives_them() {
        let names = MailboxNames { own_prefix: "INBOX.".to_owned(), shared: "Public/Discussion".to_owned() };
        let [inbox, sent, shared] =
            [Mailbox::Inbox, Mailbox::Sent, Mailbox::Discussion].map(|mailbox| names.name(mailbox));
        assert_eq!([&*inbox, &*sent, &*shared], ["INBOX", "INBOX.Sent", "Public/Discussion"]);
        assert_eq!(MailboxNames::default().name(Mailbox::Archive), "Archive");
    }
}
