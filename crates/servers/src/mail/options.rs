//! The settings of a mail server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use mail::{DirectoryError, MailMessages};
use thiserror::Error;
use units::{Nanos, Ratio};

use super::fault::MailFaultPlan;

/// The most threads.
pub const MAIL_THREADS_MAX: u32 = 64;

/// The settings of a mail server.
#[derive(Debug, Clone)]
pub struct MailServerOptions {
    /// Address for IMAP; port 0 lets the kernel choose, here and below.
    pub imap: SocketAddr,
    /// Address for the submission of messages by SMTP.
    pub submission: SocketAddr,
    /// Address for the delivery of messages by LMTP.
    pub lmtp: SocketAddr,
    /// Number of users; their names are `user1`, `user2` and so on.
    pub users: u32,
    /// The domain of their addresses.
    pub domain: String,
    /// The password of each.
    pub password: String,
    /// Messages of a run, which are stored by their identities; `None` to keep each message byte by byte. Whatever is not
    /// exactly as these say is kept as it came.
    pub messages: Option<MailMessages>,
    /// Number of threads, from 1 to [`MAIL_THREADS_MAX`], each with a part of the connections.
    pub threads: u32,
    /// Number of connections, of all protocols together; any further one is refused in its greeting.
    pub connections_max: u32,
    /// Most bytes of the messages of a user, and of the mailbox that all have in common: those that are kept, and 128 for
    /// each message.
    pub account_bytes_max: u64,
    /// Most bytes of a message.
    pub message_bytes_max: u64,
    /// Time without a command after which a session ends.
    pub idle_timeout: Nanos,
    /// CPUs that all threads of the server together limit themselves to; `None` for no limit.
    pub cpu_allowance: Option<Ratio>,
    /// Misbehavior.
    pub faults: MailFaultPlan,
}

/// A reason why a mail server did not start.
#[derive(Debug, Error)]
pub enum MailServerError {
    /// There can be no such users.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// An address cannot be listened on.
    #[error("cannot listen on {address} for {protocol}: {source}")]
    Listen {
        /// The name of the protocol.
        protocol: &'static str,
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system's error: no further thread.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl MailServerOptions {
    /// Returns the settings of a server with so many users of the domain `plimsoll.test`, on free ports of loopback.
    pub fn new(users: u32, password: String) -> MailServerOptions {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        MailServerOptions {
            imap: free,
            submission: free,
            lmtp: free,
            users,
            domain: "plimsoll.test".to_owned(),
            password,
            messages: None,
            threads: 2,
            connections_max: 100_000,
            account_bytes_max: 64 << 20,
            message_bytes_max: 32 << 20,
            // RFC 3501, 5.4: at least 30 minutes.
            idle_timeout: Nanos::from_secs(30 * 60),
            cpu_allowance: None,
            faults: MailFaultPlan::default(),
        }
    }
}
