//! Reasons why a workload cannot be fetched.

use http1::RequestError;
use model::MissingSecret;
use thiserror::Error;

use crate::{ClientTlsError, SocketPathError, SourceAddressError};

/// A workload that cannot be fetched.
#[derive(Debug, Error)]
pub enum WebSetupError {
    /// A request is not valid.
    #[error("request `{name}`: {problem}")]
    Request {
        /// The name of the request.
        name: String,
        /// The problem.
        problem: RequestError,
    },
    /// A secret has no value.
    #[error(transparent)]
    Secret(#[from] MissingSecret),
    /// The values of data are not there.
    #[error("data `{0}` has no values\nhint: its file is named in the definition and read when a run begins")]
    Data(String),
    /// The target's scheme and the plan's protocol contradict each other.
    #[error("target `{target}` {}", if *secure {
        "uses TLS, but the plan does not\nhint: add `--tls full` or `--tls resumed`"
    } else {
        "does not use TLS, but the plan does\nhint: name an `https://` target, or use `--tls off`"
    })]
    Scheme {
        /// The target as given.
        target: String,
        /// Whether the target uses TLS.
        secure: bool,
    },
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// The path of a Unix socket cannot be used.
    #[error(transparent)]
    Socket(#[from] SocketPathError),
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] ClientTlsError),
}
