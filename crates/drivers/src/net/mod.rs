//! Connections under the target policy, for all families.
//!
//! - `policy`: the addresses that load may be sent to
//! - `endpoint`: one address of a server, and the addresses that connections come from
//! - `tcp`: sockets
//! - `tls`, `certificate`, `identity`: TLS clients, the certificates that they accept, and their own
//! - `handshake_problem`: other reasons for which a TLS connection cannot be made
//! - `failure`: failures of operations
//! - `exchange`: a request and its reply
//! - `frames`: the frames of our own protocols
//! - `stream`: streams that count their bytes, over TCP, TLS or a Unix socket, for protocols with a session

mod certificate;
mod endpoint;
mod exchange;
mod failure;
pub(crate) mod frames;
mod handshake_problem;
mod identity;
mod policy;
mod stream;
pub(crate) mod tcp;
mod tls;

pub use certificate::{Authorities, AuthoritiesError, CertificateProblem, Trust};
pub use endpoint::{SocketPathError, SourceAddressError, TargetEndpoint};
pub(crate) use exchange::ExchangeBuffers;
pub(crate) use failure::OperationFailure;
pub use handshake_problem::HandshakeProblem;
pub use identity::{ClientIdentity, ClientIdentityError};
pub use policy::{TargetPolicy, TargetPolicyError};
pub(crate) use stream::MeteredStream;
pub(crate) use tcp::{ReadOutcome, TcpTransport};
pub(crate) use tls::ClientTls;
pub use tls::ClientTlsError;

pub(crate) use policy::lookup_host;
