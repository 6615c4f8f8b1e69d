//! One of each object before load begins: a server that serves something else need not be loaded.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivers::Policy;
use drivers::web::{Origin, OriginError, WebDriver};
use engine::Driver;
use model::{Outcome, Plan, WebRequest};
use thiserror::Error;
use units::{Clock, RealClock};

use crate::load::Aim;

/// Most wrong objects that are named; one is mostly enough to know.
const NAMED_MAX: usize = 5;

/// How often a wait for a reply looks whether it is to end.
const STOP_STEP: Duration = Duration::from_millis(100);

/// An object that the server does not serve as the workload has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongObject {
    /// How the request ended.
    pub outcome: Outcome,
    /// What was seen, for people.
    pub text: String,
}

/// Why the server is not fit to be loaded.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The system refused a socket or runtime.
    #[error("cannot check the server's objects: {0}")]
    System(#[from] io::Error),
    /// The workload cannot be fetched.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// No connection to it comes about.
    #[error("no connection to {target}: {text}")]
    Unreachable {
        /// The server as named.
        target: String,
        /// What was seen, for people.
        text: String,
    },
    /// The user asked for the end.
    #[error("interrupted before the first load point; there is no run file")]
    Interrupted,
    /// It does not serve the workload.
    #[error("{n_wrong} of {n_objects} objects are not served as the benchmark has them:{}", lines(named))]
    Wrong {
        /// How many.
        n_wrong: usize,
        /// Of how many.
        n_objects: usize,
        /// The first of them.
        named: Vec<WrongObject>,
    },
}

fn lines(named: &[WrongObject]) -> String {
    named.iter().map(|wrong| format!("\n  {}", wrong.text)).collect()
}

/// Fetches every object of the workload once, one after another.
///
/// # Errors
/// If one of them is not right, or `stop` is set before all of them were fetched.
pub fn verify(plan: &Plan, aim: &Aim, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
    let origin = Origin::new(&aim.target, aim.address, Policy, &plan.workload, &plan.protocol, clock)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let wrong = runtime.block_on(async {
        tokio::select! {
            wrong = fetch_all(plan, aim, WebDriver::new(Rc::clone(&origin)), clock) => wrong,
            () = stopped(stop) => Err(VerifyError::Interrupted),
        }
    })?;
    if wrong.is_empty() {
        return Ok(());
    }
    let n_wrong = wrong.len();
    let named = wrong.into_iter().take(NAMED_MAX).collect();
    Err(VerifyError::Wrong { n_wrong, n_objects: plan.workload.objects.len(), named })
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_STEP).await;
    }
}

/// Returns the objects that are not right.
async fn fetch_all(
    plan: &Plan,
    aim: &Aim,
    mut driver: WebDriver,
    clock: RealClock,
) -> Result<Vec<WrongObject>, VerifyError> {
    let limit = Duration::from_nanos(plan.protocol.time_limit.0);
    let mut wrong = Vec::new();
    for object in 0..plan.workload.objects.len() as u32 {
        let request = WebRequest { object };
        let work = driver.perform(&request, clock.now());
        match tokio::time::timeout(limit, work).await {
            Ok(reply) if reply.outcome == Outcome::Ok => {}
            Ok(reply) => {
                let text = driver.describe(&request, &reply);
                if matches!(reply.outcome, Outcome::Refused | Outcome::Unreachable) {
                    return Err(VerifyError::Unreachable { target: aim.target.to_string(), text });
                }
                wrong.push(WrongObject { outcome: reply.outcome, text });
            }
            Err(_) => {
                driver.give_up();
                let path = &plan.workload.objects[object as usize].path;
                let text = format!("GET {path}: no complete reply within {}", plan.protocol.time_limit);
                wrong.push(WrongObject { outcome: Outcome::TimedOut, text });
                // The others would cost as much time again.
                break;
            }
        }
    }
    Ok(wrong)
}
