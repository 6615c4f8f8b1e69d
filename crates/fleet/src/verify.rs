//! Reasons why a server is not fit to be loaded, found before load begins.

use std::io;

use drivers::database::SessionProblem;
use drivers::file::nfs::NfsShareError;
use drivers::file::smb::SmbShareError;
use drivers::sql::StatementRefusal;
use drivers::{CertificateProblem, HandshakeProblem};
use model::{Family, Outcome};
use thiserror::Error;
use units::Bytes;

use crate::cache_state_error::CacheStateError;
use crate::setup_error::SetupError;

/// An object, or an answer to another operation, that the server does not serve as defined by the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongObject {
    /// The outcome of the request.
    pub outcome: Outcome,
    /// The description of the failure.
    pub text: String,
}

/// The reason why the server is not fit to be loaded.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The system refused a socket or runtime.
    #[error("cannot check what the server serves: {0}")]
    System(#[from] io::Error),
    /// The load side cannot be set up for the workload.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No connection can be established.
    #[error("no connection to {target}: {text}")]
    Unreachable {
        /// The family of the benchmark.
        family: Family,
        /// The server as given.
        target: String,
        /// The outcome of the attempt: refused or unreachable.
        outcome: Outcome,
        /// The description of the failure.
        text: String,
    },
    /// Its certificate is not accepted.
    #[error("the certificate of {target} is not accepted: {problem}")]
    Certificate {
        /// The server as given.
        target: String,
        /// The problem.
        problem: CertificateProblem,
    },
    /// TLS cannot be established for another reason than its certificate.
    #[error("no TLS connection to {target}: {problem}")]
    Handshake {
        /// The server as given.
        target: String,
        /// The problem.
        problem: HandshakeProblem,
    },
    /// A page of a survey has no complete reply.
    #[error("cannot fetch a page of {target}: {text}")]
    NotFetched {
        /// The server as given.
        target: String,
        /// The failure.
        outcome: Outcome,
        /// The description of the failure.
        text: String,
        /// Whether a reply began in the protocol of the family.
        is_in_protocol: bool,
    },
    /// Its data are not those of the benchmark, or cannot be brought into their first state.
    #[error("the data of {target} cannot be used: {text}")]
    WrongData {
        /// The server as given.
        target: String,
        /// The description of the failure.
        text: String,
    },
    /// There is no session with the database.
    #[error("no session with {target}: {text}")]
    NoSession {
        /// The server as given.
        target: String,
        /// The cause.
        problem: SessionProblem,
        /// The description of the failure.
        text: String,
    },
    /// A share cannot have the files of clients, or there is no session with it.
    #[error("{target}: {error}")]
    Share {
        /// The share as given.
        target: String,
        /// The reason, which has its own hint where there is no session.
        error: Box<SmbShareError>,
    },
    /// A file server takes only smaller requests than those that are measured by their size.
    #[error(
        "{target}: the server takes {} of up to {most}, and those of this run have {bytes}",
        if *is_write { "writes" } else { "reads" }
    )]
    LargeRequest {
        /// The share or the export as given.
        target: String,
        /// The size of each request.
        bytes: Bytes,
        /// The size of the largest that the server takes.
        most: Bytes,
        /// Whether it writes.
        is_write: bool,
    },
    /// A load point on files cannot begin with the state of the cache that the run asks for.
    #[error("{target}: {error}")]
    Cache {
        /// The directory or the share as given.
        target: String,
        /// The reason.
        error: CacheStateError,
    },
    /// An export cannot have the files of clients, or there is no session with its server.
    #[error("{target}: {error}")]
    Export {
        /// The export as given.
        target: String,
        /// The reason, which has its own hint where there is no session.
        error: Box<NfsShareError>,
    },
    /// The database does not prepare some statements.
    #[error("{target} does not prepare {}:{}", statements(refused.len()), refusals(refused))]
    NotPrepared {
        /// The server as given.
        target: String,
        /// The statements; not empty.
        refused: Vec<StatementRefusal>,
    },
    /// A database has no connection for each user.
    #[error("{target} has too few connections: its {limit} of {most} leaves {free} for {wanted}{}", left_to_others(*kept))]
    TooFewConnections {
        /// The server as given.
        target: String,
        /// The limit that leaves the fewest: `` `max_connections` ``.
        limit: String,
        /// Its value.
        most: u64,
        /// The number of connections that the plan can have.
        free: u64,
        /// The number of those that are left to others besides.
        kept: u64,
        /// The sessions of the plan: `the 120 users of the plan`.
        wanted: String,
        /// The option with the most of them: `` `--load 90` ``; `None` where there is no connection at all.
        remedy: Option<String>,
    },
    /// The user interrupted the run.
    #[error("interrupted before the first load point; there is no run file")]
    Interrupted,
    /// It does not serve the workload.
    #[error(
        "{n_wrong} of {n_objects} {things} are not served as the benchmark defines them:{}",
        lines(named)
    )]
    Wrong {
        /// The family of the benchmark.
        family: Family,
        /// The things that were checked, in the words of the family: `objects`.
        things: &'static str,
        /// Number of wrong objects.
        n_wrong: usize,
        /// Number of objects checked.
        n_objects: usize,
        /// The first wrong objects.
        named: Vec<WrongObject>,
    },
}

/// The most refused statements that are named.
const REFUSALS_MAX: usize = 10;

fn left_to_others(n_connections: u64) -> String {
    match n_connections {
        0 => String::new(),
        n => format!(", besides {n} that are left to others"),
    }
}

fn statements(n: usize) -> String {
    if n == 1 { "a statement".to_owned() } else { format!("{n} statements") }
}

fn refusals(refused: &[StatementRefusal]) -> String {
    let line = |one: &StatementRefusal| {
        format!("\n  {}, statement {} (line {}): {}", one.transaction, one.number, one.line, one.text)
    };
    refused.iter().take(REFUSALS_MAX).map(line).collect()
}

fn lines(named: &[WrongObject]) -> String {
    named.iter().map(|wrong| format!("\n  {}", wrong.text)).collect()
}
