//! The survey of a server whose replies nobody has described: each page is fetched a few times before a plan is made.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use drivers::web::{FetchError, FetchedReply, Target, WebContext, WebContextOptions, fetch};
use drivers::{TargetPolicy, Trust};
use model::{Family, Outcome, Secrets, WebWorkload};
use units::{Nanos, RealClock};

use super::tls_error;
use crate::error::FleetError;
use crate::family::{SetupError, resolve, unless_stopped};
use crate::verify::VerifyError;

/// The number of times that each page is fetched.
pub const SURVEY_ROUNDS: usize = 3;

/// The pause between two rounds: together longer than a second, so that a page that shows the time has changed.
const PAUSE: Duration = Duration::from_millis(550);

/// The subject of a survey.
#[derive(Debug, Clone, Copy)]
pub struct SurveyRequest<'a> {
    /// The server.
    pub target: &'a Target,
    /// The certificates that are accepted from it over TLS.
    pub trust: &'a Trust,
    /// The requests to make; their expected replies do not matter.
    pub workload: &'a WebWorkload,
    /// The values of their secrets.
    pub secrets: &'a Secrets,
    /// Local addresses to connect from, in turn; empty: chosen by the system.
    pub source_addresses: &'a [std::net::IpAddr],
    /// The longest that a fetch may take.
    pub time_limit: Nanos,
}

/// Fetches the first object of every kind of request [`SURVEY_ROUNDS`] times, all kinds in each round. Returns the
/// replies of each kind.
///
/// # Errors
/// The policy does not allow the server, a fetch has no complete reply, or `stop` is set.
pub fn survey(request: &SurveyRequest<'_>, stop: &AtomicBool) -> Result<Vec<Vec<FetchedReply>>, FleetError> {
    let SurveyRequest { target, trust, .. } = *request;
    let clock = RealClock::start();
    let (host, port) = target.connect_host_and_port();
    let address = resolve(host, port, clock, stop)?;
    let context = WebContext::new(WebContextOptions {
        target,
        address,
        policy: TargetPolicy,
        workload: request.workload,
        secrets: request.secrets,
        source_addresses: request.source_addresses,
        trust,
        clock,
    });
    let context = context.map_err(|error| VerifyError::from(SetupError::from(error)))?;
    let kinds = 0..u16::try_from(request.workload.requests.len()).unwrap_or(u16::MAX);
    let limit = Duration::from_nanos(request.time_limit.0);
    let replies = unless_stopped(stop, async {
        let mut replies = vec![Vec::new(); request.workload.requests.len()];
        for round in 0..SURVEY_ROUNDS {
            if 0 < round {
                tokio::time::sleep(PAUSE).await;
            }
            for kind in kinds.clone() {
                let fetched = tokio::time::timeout(limit, fetch(&context, &request.workload.protocol, kind));
                let failure = match fetched.await {
                    Ok(Ok(reply)) => {
                        replies[usize::from(kind)].push(reply);
                        continue;
                    }
                    Ok(Err(failure)) => failure,
                    Err(_) => slow(request, kind),
                };
                return Err(verify_error(target.to_string(), &context, failure));
            }
        }
        Ok(replies)
    });
    Ok(replies?)
}

fn slow(request: &SurveyRequest<'_>, kind: u16) -> FetchError {
    let kind = &request.workload.requests[usize::from(kind)];
    let text =
        format!("{} {}: no complete reply within {}", kind.method, kind.path_of(0), request.time_limit);
    FetchError { outcome: Outcome::TimedOut, text, is_http: false }
}

fn verify_error(target: String, context: &WebContext, failure: FetchError) -> VerifyError {
    let FetchError { outcome, text, is_http } = failure;
    if let Some(error) = tls_error(&target, context, outcome, is_http) {
        return error;
    }
    match outcome {
        Outcome::Refused | Outcome::Unreachable => {
            VerifyError::Unreachable { family: Family::Web, target, outcome, text }
        }
        _ => VerifyError::NotFetched { target, outcome, text, is_in_protocol: is_http },
    }
}
