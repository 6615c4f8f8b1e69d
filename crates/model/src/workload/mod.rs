//! Workloads: what virtual users do, in the terms of their protocol family.
//!
//! - `web`: requests and pages over HTTP
//! - `app`: transactions with an application server
//! - `file`: operations of clients on files; `file_capture`: captured mixes; `nfs_codes`: names of codes over NFS
//! - `order_entry`: transactions of terminals with a database
//! - `sql`: transactions of a user's own statements; `sql_lexis`: what is SQL in a statement
//! - `mail`: operations of mail users; `mail_codes`: names of codes of mail servers
//! - `echo`: messages that come back over TCP, a family for tests
//! - `family_workload`: the answers that each of them gives

mod app;
#[cfg(feature = "echo")]
pub mod echo;
mod family_workload;
mod file;
mod file_capture;
mod mail;
mod mail_codes;
mod nfs_codes;
mod order_entry;
mod sql;
mod sql_lexis;
mod web;

use serde::{Deserialize, Serialize};

pub use app::{
    APP_APPENDED_BYTES_MAX, APP_BLOCK_BYTES, APP_RANGE_BYTES_MIN, AppFileIo, AppPayload, AppProtocol,
    AppRequest, AppSuite, AppTransaction, AppWorkload, AutoRange, app_measure,
};
pub use file::{
    COMPRESSIBLE_PERCENT, FileCache, FileDialect, FileDirection, FileDurability, FileMicroSettings,
    FileMixSettings, FilePads, FileSettingsError, FileSmbSettings, FileStreamFiles, FileStreamSettings,
    FileTest, FileTransport, FileVerify, FileWork, FileWorkKind, FileWorkload, SMB_CODES, WholeRequest,
    file_measure, file_pause,
};
pub use file_capture::FileCapture;
pub use mail::{MailAcknowledge, MailBodies, MailLoop, MailSecurity, MailWorkload, mail_measure};
pub use mail_codes::MAIL_CODES;
pub use nfs_codes::{NFS_VIOLATIONS, NFS3_STATUSES, NFS4_STATUSES};
pub use order_entry::{
    DataReset, DatabaseMode, DatabaseProduct, OrderDelivery, OrderEntryWorkload, OrderMix, OrderPacing,
    OrderRequest, OrderSql, order_measure,
};
pub use sql::{
    ExpectedText, ExpectedValue, RowCount, SqlRequest, SqlStatement, SqlTransaction, SqlWorkload, sql_measure,
};
pub use web::{
    BUFFERED_BODY_MAX, BodyEncoding, CLOSE_WAIT_MAX, ConnectionLifetime, Cookies, DATA_BYTES_MAX, DataError,
    DataSet, DataTable, EXTRACTED_BYTES_MAX, EXTRACTED_MAX, ExtractSource, Extraction, FILES_MAX, FileSet,
    FileSetError, HttpVersion, JsonCheck, Page, Parameter, ParameterError, PathPattern, PathPatternError,
    PathValue, PickError, REDIRECTS_MAX, Redirects, RegexError, ReplyBody, Request, RowPick, RowsEnd,
    STREAMS_MAX, Sampler, SessionValue, SetFile, TemplatePiece, Tls, UserPage, ValueCount, ValueDistribution,
    ValueSampler, WebProtocol, WebRequest, WebWorkload, compile_regex, file_path_fault, is_json_pointer,
    template_pieces, web_measure,
};

pub(crate) use app::RANGE_BYTES_MAX;
pub(crate) use web::{EXTRACTED, PATH_MAX, check_objects, has_placeholders, is_name};

use crate::{Catalog, Family, ThinkTime};
use family_workload::FamilyWorkload;

/// The workload of a benchmark, a variant per protocol family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Workload {
    /// Requests to a web server.
    Web(WebWorkload),
    /// Transactions with an application server.
    App(AppWorkload),
    /// Operations of clients on files.
    File(FileWorkload),
    /// Transactions of terminals with a database.
    OrderEntry(OrderEntryWorkload),
    /// Transactions of a user's own statements.
    Sql(SqlWorkload),
    /// Operations of users of a mail server.
    Mail(MailWorkload),
    /// Messages to an echo server.
    #[cfg(feature = "echo")]
    Echo(echo::EchoWorkload),
}

impl Workload {
    /// Returns the workload as its family answers for it.
    fn of_family(&self) -> &dyn FamilyWorkload {
        match self {
            Workload::Web(web) => web,
            Workload::App(app) => app,
            Workload::File(file) => file,
            Workload::OrderEntry(orders) => orders,
            Workload::Sql(sql) => sql,
            Workload::Mail(mail) => mail,
            #[cfg(feature = "echo")]
            Workload::Echo(echo) => echo,
        }
    }

    /// Returns the most operations in flight of an open loop where nobody has chosen a number.
    pub fn in_flight_max(&self) -> u32 {
        self.of_family().in_flight_max()
    }

    /// Returns the family of the workload.
    pub fn family(&self) -> Family {
        self.of_family().family()
    }

    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        self.of_family().catalog()
    }

    /// Returns the pause of users.
    pub fn think(&self) -> ThinkTime {
        self.of_family().think()
    }

    /// Returns whether users have state that their next operation depends on ([`crate::Mix::has_user_state`]).
    pub fn has_user_state(&self) -> bool {
        self.of_family().has_user_state()
    }

    /// Returns the web workload; `None` of another family.
    pub fn web(&self) -> Option<&WebWorkload> {
        if let Workload::Web(web) = self { Some(web) } else { None }
    }

    /// Returns the workload of statements; `None` of another family.
    pub(crate) fn sql(&self) -> Option<&SqlWorkload> {
        if let Workload::Sql(sql) = self { Some(sql) } else { None }
    }

    /// Returns the workload of a file server; `None` of another family.
    pub fn file(&self) -> Option<&FileWorkload> {
        if let Workload::File(file) = self { Some(file) } else { None }
    }

    /// Returns the web workload to be changed; `None` of another family.
    pub fn web_mut(&mut self) -> Option<&mut WebWorkload> {
        if let Workload::Web(web) = self { Some(web) } else { None }
    }

    /// Returns whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.of_family().is_encrypted()
    }

    /// Returns whether a system under test of a name has its data in SQLite, which has one writer at a time.
    pub(crate) fn has_one_writer(&self, sut: &str) -> bool {
        self.of_family().has_one_writer(sut)
    }

    /// Returns whether a higher load needs more data on the server.
    pub(crate) fn grows_with_load(&self) -> bool {
        self.of_family().grows_with_load()
    }

    /// Describes the data of users on the server; `None` of a workload that has none, and of the web, whose files the
    /// file set has.
    pub fn data_text(&self) -> Option<String> {
        self.of_family().data_text()
    }

    /// Describes the way in which operations are made, beside which alone figures of the workload are to be shown;
    /// `None` where the settings say it all.
    pub fn mode_text(&self) -> Option<String> {
        self.of_family().mode_text()
    }

    /// Returns the sentence that every report of the workload ends with; `None` of workloads that derive from no
    /// protected name.
    pub fn notice(&self) -> Option<&'static str> {
        self.of_family().notice()
    }

    /// Returns whether a size is still to be fitted to the server's memory limit in force: see
    /// [`crate::Plan::fit_to_memory`].
    pub fn needs_memory_limit(&self) -> bool {
        matches!(self, Workload::App(app) if app.needs_memory_limit())
    }

    /// Removes values that look like credentials and are not disclosed on purpose.
    pub(crate) fn leave_out_credentials(&mut self) {
        if let Some(web) = self.web_mut() {
            web.requests.iter_mut().for_each(|request| drop(request.take_credentials()));
        }
    }
}

/// The files of the server: none outside the web family.
impl Workload {
    /// Returns the number of files at a level of load (users, or operations per second).
    pub fn n_files(&self, level: f64) -> u64 {
        self.web().map_or(0, |web| web.n_files(level))
    }

    /// Returns the size of all files together at a level of load, without listing them.
    pub fn file_bytes(&self, level: f64) -> u64 {
        self.web().map_or(0, |web| web.file_bytes(level))
    }

    /// Lists the files that the server must hold at a level of load.
    pub fn file_set(&self, level: f64) -> FileSet {
        self.web().map_or_else(FileSet::default, |web| web.file_set(level))
    }
}

impl From<WebWorkload> for Workload {
    fn from(web: WebWorkload) -> Workload {
        Workload::Web(web)
    }
}
