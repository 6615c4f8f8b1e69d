//! What operators see of the servers behind.

use super::health::Condition;

/// A server went down or came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The server's address.
    pub address: &'a str,
    /// What it is now.
    pub condition: Condition,
    /// What the last of the events was that led to it.
    pub reason: &'a str,
}

/// Is told when a server goes down or comes up; must not block.
pub type Notice = Box<dyn Fn(&Change<'_>) + Send + Sync>;

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// Its address, `host:port`.
    pub address: String,
    /// Whether it is up.
    pub condition: Condition,
    /// How many requests it is working on, over all threads.
    pub in_use: usize,
    /// How many requests it has got.
    pub requests: u64,
    /// How many connections were made to it.
    pub connections: u64,
    /// How many requests it has not answered, or not in full.
    pub failures: u64,
    /// How often it went down.
    pub times_down: u64,
}
