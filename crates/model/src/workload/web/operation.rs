//! An operation of web users: one request.

use crate::HasKind;

/// One request of the web family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebRequest {
    /// Index into the workload's requests.
    pub kind: u16,
    /// Whether the connection is not used again afterwards.
    pub closes: bool,
    /// Whether it is the first of its page.
    pub begins: bool,
    /// Number of the object among those of the kind.
    pub number: u64,
}

impl WebRequest {
    /// Makes the request for the first object of a kind, a page of its own, on a connection that may be used again.
    pub fn first(kind: u16) -> WebRequest {
        WebRequest { kind, closes: false, begins: true, number: 0 }
    }
}

impl HasKind for WebRequest {
    fn kind(&self) -> u16 {
        self.kind
    }
}
