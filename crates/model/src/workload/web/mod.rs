//! Web workloads: requests, their weights and the expected replies.
//!
//! - `request`: a kind of request and its expected reply; `operation`: one request of a kind
//! - `template`: texts with placeholders
//! - `path`: paths with parameters
//! - `parameter`: the values of a parameter and their distribution
//! - `data`, `data_table`: data of users, and their values
//! - `extract`: values that are taken from replies
//! - `session`: cookies, redirects, and the requests that need a session
//! - `sampler`: drawing requests at one level of load
//! - `file_set`: the files that the server is given
//! - `protocol`: HTTP version, encryption, and the lifetime of connections
//! - `catalog`: what a run of a workload counts and measures

mod catalog;
mod data;
mod data_table;
mod extract;
mod file_set;
mod operation;
mod parameter;
mod path;
mod protocol;
mod request;
mod sampler;
mod session;
mod template;

use serde::{Deserialize, Serialize};
use units::Weights;

pub use catalog::web_measure;
pub use data::{DataSet, RowPick, RowsEnd, UserPage};
pub use data_table::{DATA_BYTES_MAX, DataError, DataTable};
pub use extract::{
    BUFFERED_BODY_MAX, EXTRACTED_BYTES_MAX, EXTRACTED_MAX, ExtractSource, Extraction, RegexError,
    compile_regex, is_json_pointer,
};
pub use file_set::{FILES_MAX, FileSet, FileSetError, SetFile, file_path_fault};
pub use operation::WebRequest;
pub use parameter::{Parameter, ParameterError, PickError, ValueCount, ValueDistribution};
pub use path::{PathPattern, PathPatternError, PathValue};
pub use protocol::{CLOSE_WAIT_MAX, ConnectionLifetime, HttpVersion, STREAMS_MAX, Tls, WebProtocol};
pub use request::{JsonCheck, ReplyBody, Request};
pub use sampler::{Sampler, ValueSampler};
pub use session::{BodyEncoding, Cookies, REDIRECTS_MAX, Redirects};
pub use template::{SessionValue, TemplatePiece, template_pieces};

pub(crate) use file_set::{PATH_MAX, check_objects};
pub(crate) use template::{EXTRACTED, has_placeholders, is_name};

use session::is_default;

use super::family_workload::{FamilyWorkload, IN_FLIGHT_MAX};
use crate::{Catalog, Content, Family, ThinkTime};

/// A group of requests that a user makes one after another and that counts as one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its share of all pages is this divided by the sum of all weights. Above zero.
    pub weight: u64,
    /// Indexes of its requests, in the order in which they are made; not empty.
    pub requests: Vec<u32>,
}

/// The requests of a benchmark, their weights, their file set and their protocol. One operation kind per request, one unit kind per
/// page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebWorkload {
    /// Seed of the files' content: a constant of the benchmark's version.
    pub content_seed: u64,
    /// The kinds of requests; not empty, names all different, paths of files all different.
    pub requests: Vec<Request>,
    /// The pages; not empty.
    pub pages: Vec<Page>,
    /// Whether the benchmark counts pages; if not, each page is one request and units are not reported.
    pub counts_pages: bool,
    /// The pause after each page.
    pub think: ThinkTime,
    /// The lifetime of users' cookies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cookies: Cookies,
    /// The data of users; names all different.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataSet>,
    /// The protocol of the requests.
    pub protocol: WebProtocol,
}

impl WebWorkload {
    /// Returns the weights of the pages.
    ///
    /// # Panics
    /// If the workload breaks its invariants: there are no pages, or none has a weight.
    pub fn page_weights(&self) -> Weights {
        Weights::new(self.pages.iter().map(|page| page.weight)).expect("a workload has pages with weights")
    }

    /// Returns the weights of the kinds of requests: Σ over pages of the page's weight × the number of times that the
    /// page has the request.
    pub fn request_weights(&self) -> Vec<u64> {
        let mut weights = vec![0u64; self.requests.len()];
        for page in &self.pages {
            for request in &page.requests {
                // A workload from a damaged file may name requests that it does not have.
                if let Some(weight) = weights.get_mut(*request as usize) {
                    *weight = weight.saturating_add(page.weight);
                }
            }
        }
        weights
    }

    /// Returns the mean number of requests per page: Σ w·requests / Σ w.
    pub fn requests_per_page(&self) -> f64 {
        self.page_mean(|page| page.requests.len() as f64)
    }

    /// Returns the mean number of body bytes per page, Σ w·bytes / Σ w; `None` if a reply has no known length.
    pub fn bytes_per_page(&self) -> Option<f64> {
        Some(self.mean_body_bytes()? * self.requests_per_page())
    }

    /// Returns the expected body bytes per request; `None` if a reply has no known length.
    pub fn mean_body_bytes(&self) -> Option<f64> {
        self.request_mean(|request| Some(request.body_moments()?.0))
    }

    /// Returns the population standard deviation of the body bytes of a request: √(E\[b²\] − E\[b\]²).
    pub fn body_bytes_deviation(&self) -> Option<f64> {
        let squares = self.request_mean(|request| Some(request.body_moments()?.1))?;
        Some((squares - self.mean_body_bytes()?.powi(2)).max(0.0).sqrt())
    }

    /// Returns the shares of all requests that are of each kind, from 0 to 1.
    pub(crate) fn request_shares(&self) -> Vec<f64> {
        let weights = self.request_weights();
        let total: f64 = weights.iter().map(|weight| *weight as f64).sum();
        weights.iter().map(|weight| *weight as f64 / total).collect()
    }

    /// Returns the share of all requests that are of a kind, from 0 to 1.
    pub fn request_share(&self, kind: usize) -> f64 {
        self.request_shares().get(kind).copied().unwrap_or(0.0)
    }

    /// Returns the number that determines the content of an object, see [`Content::object`].
    pub fn content_object(&self, kind: u16, number: u64) -> u32 {
        Content::object(self.requests.len(), kind, number)
    }

    fn request_mean(&self, value: impl Fn(&Request) -> Option<f64>) -> Option<f64> {
        let weights = self.request_weights();
        let total: f64 = weights.iter().map(|weight| *weight as f64).sum();
        let sum = self
            .requests
            .iter()
            .zip(weights)
            .try_fold(0.0, |sum, (request, weight)| Some(sum + weight as f64 * value(request)?))?;
        Some(sum / total)
    }

    fn page_mean(&self, value: impl Fn(&Page) -> f64) -> f64 {
        let total: f64 = self.pages.iter().map(|page| page.weight as f64).sum();
        self.pages.iter().map(|page| page.weight as f64 * value(page)).sum::<f64>() / total
    }
}

impl FamilyWorkload for WebWorkload {
    fn family(&self) -> Family {
        Family::Web
    }

    fn in_flight_max(&self) -> u32 {
        IN_FLIGHT_MAX
    }

    fn catalog(&self) -> Catalog {
        WebWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        self.think
    }

    fn has_user_state(&self) -> bool {
        self.has_sessions()
    }

    fn is_encrypted(&self) -> bool {
        self.protocol.tls != Tls::Off
    }

    fn has_one_writer(&self, _: &str) -> bool {
        false
    }

    fn grows_with_load(&self) -> bool {
        self.requests.iter().any(Request::grows_with_load)
    }

    fn data_text(&self) -> Option<String> {
        None
    }

    fn mode_text(&self) -> Option<String> {
        None
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }
}
