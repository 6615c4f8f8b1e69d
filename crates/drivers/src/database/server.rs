//! A database server as a run names it, and as users connect to it.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use model::{DatabaseProduct, Outcome};
use thiserror::Error;

use super::connection::SqlConnection;
use super::error::{CONNECTING, DatabaseError};
use super::failure::{RefusalTexts, SqlFailure};
use super::socket::ServerSocket;
use crate::net::{ClientTlsError, OperationFailure, SourceAddressError, Trust};

/// The place of a database server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabasePlace {
    /// An address that the target policy has allowed.
    Tcp(SocketAddr),
    /// A socket of this machine, by its path.
    Unix(PathBuf),
}

/// A password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabasePassword(String);

impl DatabasePassword {
    /// Makes a password.
    pub fn new(text: impl Into<String>) -> DatabasePassword {
        DatabasePassword(text.into())
    }

    /// Returns the password, for the server and for the encrypted link to a load agent.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabasePassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabasePassword")
    }
}

/// Encryption of the connections to a database server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseEncryption {
    /// The host as named, which a certificate has to be for.
    pub host: String,
    /// The certificates that are accepted.
    pub trust: Trust,
}

/// A reason why connections to a database server cannot be set up.
#[derive(Debug, Error)]
pub enum DatabaseSetupError {
    /// They cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// They cannot be encrypted: the reason.
    #[error("TLS to the database: {0}")]
    Tls(#[from] ClientTlsError),
}

impl From<DatabaseSetupError> for DatabaseError {
    fn from(error: DatabaseSetupError) -> DatabaseError {
        match error {
            DatabaseSetupError::Source(error) => DatabaseError::System(error.problem.into()),
            DatabaseSetupError::Tls(error) => {
                DatabaseError::Failed { doing: CONNECTING, text: error.to_string() }
            }
        }
    }
}

/// A database server with the user and the database of sessions on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseServer {
    /// The product.
    pub product: DatabaseProduct,
    /// Its place.
    pub place: DatabasePlace,
    /// The encryption of connections, for a place of TCP.
    pub encryption: Option<DatabaseEncryption>,
    /// The user.
    pub user: String,
    /// The user's password, for servers that ask for one.
    pub password: Option<DatabasePassword>,
    /// The database, for products that have schemas in it.
    pub database: String,
}

/// A database server, as users connect to it.
pub(crate) trait SqlServer: 'static {
    /// A connection.
    type Connection: SqlConnection;

    /// Returns what connections are made to.
    fn socket(&self) -> &ServerSocket;

    /// Connects.
    async fn connect(&self) -> Result<Self::Connection, SqlFailure>;

    /// Has the server cancel what a connection waits for: the transaction would keep its locks otherwise.
    async fn cancel(&self, connection: Self::Connection);

    /// Describes the failure of an operation with the server's own texts.
    fn describe(&self, texts: &RefusalTexts, failure: &OperationFailure) -> String {
        if failure.outcome == Outcome::TlsFailed
            && let Some(problem) = self.socket().certificate_problem()
        {
            return format!("its certificate is not accepted: {problem}");
        }
        texts.describe(failure)
    }
}
