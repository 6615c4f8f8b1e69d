//! The figures that only the web family has, and the parts of its servers.

use model::SutPlan;

/// The figures of a load point that only the web family has.
#[derive(Debug, Clone, PartialEq)]
pub struct WebFigures {
    /// Bodies received by successful operations, in KB of 1024 bytes per second, as WebBench counts.
    pub body_throughput_kb: f64,
    /// Mean time from the first byte of a reply to the operation's end, in seconds: (Σ service − Σ first byte) / n;
    /// `None` if none succeeded.
    pub receive_mean: Option<f64>,
    /// Connections that successful operations made.
    pub connects: u64,
    /// Kept connections that had ended when a request was sent on them, of all phases.
    pub connections_lost: u64,
    /// Body bytes of the replies to the operations in flight at the end of the steady phase, by the sizes of their
    /// objects.
    pub in_flight_body_bytes: u64,
}

/// The figures of a kind of request that only the web family has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebKindFigures {
    /// Size of the object as defined; `None` where it is not known, and for the total.
    pub object_bytes: Option<u64>,
    /// Bytes of bodies received by successful operations.
    pub body: u64,
    /// Bytes of heads received by them.
    pub head: u64,
}

/// Returns the gateway of a web server and the accelerator in front of it, in words: `php-fpm × 4`, `behind varnish`.
pub(crate) fn parts(sut: &SutPlan) -> [Option<String>; 2] {
    let gateway = sut.gateway().map(|gateway| format!("{} × {}", gateway.kind.name(), gateway.workers));
    let accelerator = sut.accelerator().map(|accelerator| format!("behind {}", accelerator.name));
    [gateway, accelerator]
}
