//! Reports about the origin servers, for operators.

use super::health::ServerState;

/// A change of a server's health: it went down or came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerChange<'a> {
    /// The server's address.
    pub address: &'a str,
    /// The new state.
    pub condition: ServerState,
    /// The last of the events that led to it.
    pub reason: &'a str,
}

/// A callback for changes of a server's health; must not block.
pub type OnServerChange = Box<dyn Fn(&ServerChange<'_>) + Send + Sync>;

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// Its address, `host:port`.
    pub address: String,
    /// The state.
    pub condition: ServerState,
    /// The number of requests in progress, over all threads.
    pub in_use: usize,
    /// The number of requests sent to it.
    pub requests: u64,
    /// The number of connections opened to it.
    pub connections: u64,
    /// The number of requests that it did not answer, or not in full.
    pub failures: u64,
    /// The number of times that it went down.
    pub times_down: u64,
}
