//! The table `[workload]` of a web benchmark.
//!
//! - `workload`, `request`, `parameter`, `reply`, `weight`: the requests and their replies
//! - `body`: what is sent
//! - `extract`, `placeholders`, `data`: values of users, where they come from and where they are used
//! - `secret`: values that are never stored

mod body;
mod data;
mod extract;
mod parameter;
mod placeholders;
mod reply;
mod request;
mod secret;
mod weight;
mod workload;

use languages::reader::TomlTable;

pub(super) use data::read_data;
pub use data::{DataDefinition, DataFormat};
pub(super) use extract::regex;
pub(super) use parameter::{count, fixed_count, read_values};
pub use request::header_name_fault;
pub(super) use request::{ABOUT_LIMITS, kind_limits};
pub(super) use secret::variable;
pub(super) use weight::Weight;

use workload::read_workload;

use super::WorkloadDefinition;
use super::family_spec::{FamilySpec, WorkloadParts};
use super::values::server_url;
use crate::{
    ChosenSetting, ConnectionLifetime, Cookies, Page, PlacedSecret, Request, ThinkTime, WebProtocol,
    WebWorkload, setting,
};

/// The answers of web servers.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: true,
    is_described: true,
    own_headline: None,
    settings: setting::web::SETTINGS,
    target: server_url,
    no_use: |_| Vec::new(),
    read: |WorkloadParts { workload, protocol, level_max, .. }| {
        read(workload, protocol, level_max).map(WorkloadDefinition::Web)
    },
};

/// A web workload: a filelist or requests, and their protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct WebDefinition {
    /// The requests, their replies and weights.
    pub source: WorkloadSource,
    /// Seed of the files' content: a constant of the benchmark's version.
    pub content_seed: u64,
    /// Whether the benchmark counts pages besides requests.
    pub counts_pages: bool,
    /// The pause of users after each page.
    pub think: ThinkTime,
    /// The lifetime of users' cookies.
    pub cookies: Cookies,
    /// The data of users.
    pub data: Vec<DataDefinition>,
    /// The secret parts of its requests, which are never stored.
    pub secrets: Vec<PlacedSecret>,
    /// The protocol of the requests.
    pub protocol: WebProtocol,
}

impl WebDefinition {
    /// Returns the workload as defined with these requests and pages: its own, or those of a filelist. It has no data
    /// yet, because their files are not read.
    pub fn workload(&self, requests: Vec<Request>, pages: Vec<Page>) -> WebWorkload {
        WebWorkload {
            content_seed: self.content_seed,
            requests,
            pages,
            counts_pages: self.counts_pages,
            think: self.think,
            cookies: self.cookies,
            data: Vec::new(),
            protocol: self.protocol,
        }
    }
}

/// The source of the requests.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkloadSource {
    /// A filelist.
    Filelist(FilelistSource),
    /// The definition itself: requests and pages of a workload.
    Requests(Vec<Request>, Vec<Page>),
}

/// The source of the filelist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilelistSource {
    /// A file beside the definition, by its name.
    File(String),
    /// Here: its text, in either of the two filelist formats.
    Text(String),
}

/// Reads `[workload]`; `protocol` is the settings of `[protocol]`, and `level_max` the highest level of load that the
/// definition names.
fn read(
    workload: Option<TomlTable>,
    protocol: Option<&[ChosenSetting]>,
    level_max: Option<f64>,
) -> Option<WebDefinition> {
    // Both are read before either is missed, so that all mistakes are found.
    let workload = workload.and_then(|table| read_workload(table, level_max));
    let settings = protocol?;
    let workload = workload?;
    let mut protocol = WebProtocol::plain(ConnectionLifetime::PerRequest);
    settings.iter().for_each(|setting| setting.apply_to_protocol(&mut protocol));
    Some(WebDefinition {
        source: workload.source,
        content_seed: workload.content_seed,
        counts_pages: workload.counts_pages,
        think: workload.think,
        cookies: workload.cookies,
        data: workload.data,
        secrets: workload.secrets,
        protocol,
    })
}
