//! The state that the sessions of a load thread share.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use model::{
    Cookies, DataSet, DataTable, ExtractSource, Request, Secrets, UserPage, WebProtocol, WebWorkload,
};

use super::compose::Composer;
use super::extract::Extractor;
use super::origin::Origin;
use super::redirect_targets::RedirectTargets;
use crate::web::Target;
use crate::web::capture::CapturePlan;
use crate::web::missing_value::SessionNames;
use crate::web::setup_error::WebSetupError;
use crate::{TargetPolicy, Trust};

/// The context that the sessions of a load thread share: how requests are made and what is taken from their replies.
pub(crate) struct SessionContext {
    /// The origin of the target, to which alone cookies and credentials are sent.
    pub(super) origin: Origin,
    pub(super) protocol: WebProtocol,
    cookies: Cookies,
    /// The names of extracted values, by their numbers.
    names: Vec<String>,
    /// Whether each is kept after the page.
    kept: Vec<bool>,
    data: Vec<(DataSet, Arc<DataTable>)>,
    kinds: Vec<KindSession>,
    pub(super) elsewhere: RedirectTargets,
}

/// The part of one kind of request.
#[derive(Debug)]
pub(super) struct KindSession {
    pub(super) composer: Composer,
    pub(super) extractor: Extractor,
    pub(super) wanted: CapturePlan,
}

/// The target of a load thread, and how connections to it and to others are made.
pub(crate) struct SessionTarget<'a> {
    pub(crate) target: &'a Target,
    pub(crate) policy: TargetPolicy,
    pub(crate) source_addresses: &'a [IpAddr],
    pub(crate) trust: &'a Trust,
}

impl fmt::Debug for SessionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionContext").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl SessionContext {
    /// Prepares the sessions of a workload; `filled` are its requests with their secrets.
    ///
    /// # Errors
    /// The values of some data are not at hand.
    pub(crate) fn new(
        at: &SessionTarget<'_>,
        workload: &WebWorkload,
        filled: &[Request],
        secrets: &Secrets,
    ) -> Result<SessionContext, WebSetupError> {
        let data: Vec<(DataSet, Arc<DataTable>)> =
            workload.data.iter().cloned().zip(secrets.data().iter().cloned()).collect();
        if let Some(missing) = workload.data.get(data.len()) {
            return Err(WebSetupError::Data(missing.name.clone()));
        }
        let names: Vec<String> = workload.extracted_names().into_iter().map(str::to_owned).collect();
        let extracts = || workload.requests.iter().flat_map(|request| &request.extracts);
        let kept = |name: &String| extracts().any(|extract| extract.keep && extract.name == *name);
        let mut context = SessionContext {
            origin: Origin::of(at.target),
            protocol: workload.protocol,
            cookies: workload.cookies,
            kept: names.iter().map(kept).collect(),
            names,
            data,
            kinds: Vec::new(),
            elsewhere: RedirectTargets::new(at.policy, at.source_addresses, at.trust),
        };
        let kind = |(request, filled): (&Request, &Request)| KindSession {
            composer: Composer::new(request, filled, &context),
            extractor: Extractor::new(request, &context),
            wanted: wanted(request, workload.cookies),
        };
        context.kinds = workload.requests.iter().zip(filled).map(kind).collect();
        Ok(context)
    }

    pub(super) fn kind(&self, kind: u16) -> &KindSession {
        &self.kinds[usize::from(kind)]
    }

    pub(super) fn cookies(&self) -> Cookies {
        self.cookies
    }

    pub(super) fn kept(&self) -> &[bool] {
        &self.kept
    }

    pub(super) fn n_data(&self) -> usize {
        self.data.len()
    }

    /// Returns the values of some data, by their number.
    pub(super) fn table(&self, data: usize) -> &DataTable {
        &self.data[data].1
    }

    /// Returns the row of a page in some data; `None` if there is none left.
    pub(super) fn row(&self, data: usize, at: UserPage) -> Option<u64> {
        self.data[data].0.row(data, at)
    }

    /// Returns the numbers of some data and of one of its columns.
    pub(super) fn column(&self, data: &str, column: &str) -> Option<(usize, usize)> {
        let index = self.data.iter().position(|(set, _)| set.name == data)?;
        Some((index, self.table(index).columns().iter().position(|name| name == column)?))
    }

    /// Returns the number of an extracted value.
    pub(super) fn extracted_number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }
}

impl SessionNames for SessionContext {
    fn extracted_name(&self, number: usize) -> Option<&str> {
        self.names.get(number).map(String::as_str)
    }

    fn data_name(&self, number: usize) -> Option<&str> {
        self.data.get(number).map(|(set, _)| set.name.as_str())
    }
}

/// Returns the parts of a request's replies that are kept.
fn wanted(request: &Request, cookies: Cookies) -> CapturePlan {
    let field = |source: &ExtractSource| match source {
        ExtractSource::Header(name) => Some(name.clone()),
        _ => None,
    };
    CapturePlan {
        cookies: cookies != Cookies::None,
        body: request.extracts.iter().any(|extract| extract.from.is_in_body()),
        redirects: request.redirects,
        fields: request.extracts.iter().filter_map(|extract| field(&extract.from)).collect(),
    }
}
