//! Reasons why the load side cannot be set up.

use drivers::SourceAddressError;
use drivers::app::AppSetupError;
use drivers::database::DatabaseSetupError;
use drivers::mail::MailSetupError;
use drivers::sql::SqlSetupError;
use drivers::web::WebSetupError;
use mail::DirectoryError;
use model::{Family, FileSettingsError};
use orderstore::StoreError;
use thiserror::Error;

/// A reason why the load side cannot be set up for a workload.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The requests of a web workload cannot be made.
    #[error(transparent)]
    Web(#[from] WebSetupError),
    /// The transactions with an application server cannot be made.
    #[error(transparent)]
    App(#[from] AppSetupError),
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// Connections to a database cannot be made.
    #[error(transparent)]
    Database(#[from] DatabaseSetupError),
    /// The statements of a user cannot be sent.
    #[error(transparent)]
    Sql(#[from] SqlSetupError),
    /// Connections of this process to a file of data cannot be made.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Clients of a file server cannot work with the settings.
    #[error(transparent)]
    File(#[from] FileSettingsError),
    /// The sessions of users of a mail server cannot be made.
    #[error(transparent)]
    Mail(#[from] MailSetupError),
    /// There can be no such users of a mail server.
    #[error("the users of the mail server: {0}")]
    Directory(#[from] DirectoryError),
    /// A list of accounts has fewer than a plan has users.
    #[error("{n_users} users of the plan need an account each, and the list has {n_accounts}")]
    TooFewAccounts {
        /// The number of users.
        n_users: u32,
        /// The number of accounts.
        n_accounts: usize,
    },
    /// The server is of another family than the workload.
    #[error("the workload is of the family `{0}`, and the server is not")]
    OtherFamily(Family),
}
