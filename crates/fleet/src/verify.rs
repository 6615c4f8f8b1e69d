//! The check of some objects of each kind before load begins: a server with other contents need not be
//! loaded.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivers::web::{CertificateProblem, Http2Driver, PlainDriver, TlsDriver, WebContext, WebSetupError};
use engine::Driver;
use model::{HttpVersion, Outcome, Plan, Tls, WebRequest};
use thiserror::Error;
use units::{Clock, RealClock};

use crate::load::Aim;

/// Maximum number of wrong objects that are named; usually one explains the others.
const NAMED_MAX: usize = 5;

/// Maximum number of objects fetched per kind of request.
const SAMPLES_MAX: u64 = 20;

/// Interval at which a wait for a response checks whether it is interrupted.
const STOP_STEP: Duration = Duration::from_millis(100);

/// An object that the server does not serve as defined by the workload.
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
    #[error("cannot check the server's objects: {0}")]
    System(#[from] io::Error),
    /// The workload cannot be fetched.
    #[error(transparent)]
    Origin(#[from] WebSetupError),
    /// No connection can be established.
    #[error("no connection to {target}: {text}")]
    Unreachable {
        /// The server as given.
        target: String,
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
    /// The user interrupted the run.
    #[error("interrupted before the first load point; there is no run file")]
    Interrupted,
    /// It does not serve the workload.
    #[error("{n_wrong} of {n_objects} objects are not served as the benchmark defines them:{}", lines(named))]
    Wrong {
        /// Number of wrong objects.
        n_wrong: usize,
        /// Number of objects checked.
        n_objects: usize,
        /// The first wrong objects.
        named: Vec<WrongObject>,
    },
}

fn lines(named: &[WrongObject]) -> String {
    named.iter().map(|wrong| format!("\n  {}", wrong.text)).collect()
}

/// Fetches objects of every kind of request once, one after another.
///
/// # Errors
/// An object is wrong, or `stop` is set before all of them were fetched.
pub(crate) fn verify(plan: &Plan, aim: &Aim, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
    let origin = aim.origin(plan, clock)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build_local(tokio::runtime::LocalOptions::default())?;
    let wrong = runtime.block_on(async {
        tokio::select! {
            wrong = fetch_all_by(&origin, plan, aim, clock) => wrong,
            () = stopped(stop) => Err(VerifyError::Interrupted),
        }
    })?;
    if wrong.is_empty() {
        return Ok(());
    }
    let (n_wrong, n_objects) = (wrong.len(), samples(plan).len());
    let named = wrong.into_iter().take(NAMED_MAX).collect();
    Err(VerifyError::Wrong { n_wrong, n_objects, named })
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_STEP).await;
    }
}

async fn fetch_all_by(
    origin: &Rc<WebContext>,
    plan: &Plan,
    aim: &Aim,
    clock: RealClock,
) -> Result<Vec<WrongObject>, VerifyError> {
    match (plan.protocol.http, plan.protocol.tls) {
        (HttpVersion::Http2, _) => {
            fetch_all(plan, aim, origin, Http2Driver::new(Rc::clone(origin)), clock).await
        }
        (_, Tls::Off) => fetch_all(plan, aim, origin, PlainDriver::new(Rc::clone(origin)), clock).await,
        _ => fetch_all(plan, aim, origin, TlsDriver::new(Rc::clone(origin)), clock).await,
    }
}

/// Lists the objects to fetch: of every kind of request all objects if they are few, else some of them,
/// including the first and the last.
fn samples(plan: &Plan) -> Vec<WebRequest> {
    let kinds = (0..).zip(&plan.workload.requests);
    let samples = kinds.flat_map(|(kind, request)| {
        let n = request.objects(plan.level_max());
        let taken = n.min(SAMPLES_MAX);
        let place = move |i: u64| (u128::from(i) * u128::from(n - 1) / u128::from((taken - 1).max(1))) as u64;
        (0..taken).map(move |i| WebRequest { kind, closes: false, number: place(i) })
    });
    samples.collect()
}

/// Returns the wrong objects.
async fn fetch_all(
    plan: &Plan,
    aim: &Aim,
    origin: &WebContext,
    mut driver: impl Driver<Operation = WebRequest>,
    clock: RealClock,
) -> Result<Vec<WrongObject>, VerifyError> {
    let limit = Duration::from_nanos(plan.protocol.time_limit.0);
    let mut wrong = Vec::new();
    for request in samples(plan) {
        let work = driver.perform(&request, clock.now());
        match tokio::time::timeout(limit, work).await {
            Ok(reply) if reply.outcome == Outcome::Ok => {}
            Ok(reply) => {
                let text = driver.describe(&request, &reply);
                if matches!(reply.outcome, Outcome::Refused | Outcome::Unreachable) {
                    return Err(VerifyError::Unreachable { target: aim.target.to_string(), text });
                }
                if reply.outcome == Outcome::TlsFailed
                    && let Some(problem) = origin.certificate_problem()
                {
                    return Err(VerifyError::Certificate { target: aim.target.to_string(), problem });
                }
                wrong.push(WrongObject { outcome: reply.outcome, text });
            }
            Err(_) => {
                driver.give_up();
                wrong.push(WrongObject { outcome: Outcome::TimedOut, text: timed_out(plan, &request) });
                // The others would take as much time again.
                break;
            }
        }
    }
    Ok(wrong)
}

/// Describes a request without a complete response in time.
fn timed_out(plan: &Plan, request: &WebRequest) -> String {
    let kind = &plan.workload.requests[usize::from(request.kind)];
    let (path, limit) = (kind.path_of(request.number), plan.protocol.time_limit);
    format!("{} {path}: no complete reply within {limit}", kind.method)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use drivers::web::{Target, Trust};
    use testkit::{closed_plan, phases};
    use units::Nanos;

    use super::*;

    /// Goal: the message contains the request's own method. Method: a server that never answers.
    #[test]
    fn a_timed_out_request_is_described_with_its_method() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for method in ["GET", "HEAD", "POST"] {
            let mut plan = closed_plan(1, &[1], phases(0, 1));
            plan.protocol.time_limit = Nanos::from_millis(50);
            plan.workload.requests.truncate(1);
            plan.workload.requests[0].method = method.to_owned();
            let target = Target { host: "127.0.0.1".to_owned(), port: address.port(), secure: false };
            let aim = Aim { target, address, trust: Trust::Any, secrets: model::Secrets::default() };
            let error = verify(&plan, &aim, RealClock::start(), &AtomicBool::new(false)).unwrap_err();
            let VerifyError::Wrong { named, .. } = error else { panic!("{error}") };
            let path = plan.workload.requests[0].path_of(0);
            assert_eq!(named[0].text, format!("{method} {path}: no complete reply within 50.0 ms"));
        }
    }
}
