//! The interface between a server and its service.

use frame::FrameFormat;

use super::requests::Requests;

/// A service: what a server does with requests.
pub(crate) trait FrameService: Send + Sync + Sized + 'static {
    /// The protocol.
    const PROTOCOL: FrameProtocol;

    /// The state of a session, which a request opens.
    type Session: Clone + Send + 'static;

    /// Returns the lane of the queue for requests of an operation; the lane's threads perform them.
    fn lane(&self, operation: u8) -> usize;

    /// Performs requests until there are no more: the body of a thread of a lane.
    fn run(&self, lane: usize, requests: Requests<'_, Self>);

    /// Appends the load of the server to the payload of a reply.
    fn write_load(&self, load: &ServerLoad, payload: &mut Vec<u8>);
}

/// The facts of a protocol that a server needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameProtocol {
    /// The form of its frames.
    pub(crate) format: FrameFormat,
    /// Start of the names of threads: `app`.
    pub(crate) name: &'static str,
    /// The operation that asks for the load of the server, which the reactor answers beside the queue.
    pub(crate) stats: u8,
    /// The operation after whose reply the connection ends.
    pub(crate) bye: u8,
    /// The status of a request for which the queue has no room.
    pub(crate) busy: u16,
    /// The status of a request that is none.
    pub(crate) bad_request: u16,
    /// Whether an operation is one of those that are measured, and that faults concern.
    pub(crate) is_measured: fn(u8) -> bool,
}

/// The load of a server at one moment, and what it has done since its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerLoad {
    /// Service threads.
    pub(crate) threads: u32,
    /// Service threads that perform a request.
    pub(crate) busy_threads: u32,
    /// Requests that wait for a service thread.
    pub(crate) queued: u32,
    /// Those of them in the first lane.
    pub(crate) queued_in_first: u32,
    /// Requests that may wait.
    pub(crate) queue_max: u32,
    /// Connections.
    pub(crate) connections: u32,
    /// Requests that service threads have performed.
    pub(crate) performed: u64,
    /// Requests for which the queue had no room.
    pub(crate) refused: u64,
}
