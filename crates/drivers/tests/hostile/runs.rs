//! Hostile servers through whole runs: the run goes on, failed operations are counted, connections are
//! closed.

use model::{ConnectionLifetime, Outcome};
use servers::web::Fault;
use units::Nanos;

use crate::common::{RoundRobin, SMALL, closed, phases, run_point, server};
use crate::{alone, n_descriptors};

/// One of each kind: silence, endless bytes, a reset, a drip, a flood of heads.
const A_HANDFUL: [&str; 6] =
    ["stall", "endless-body", "reset", "head-drip", "interim-flood", "extension-flood"];

/// Goal: 20 users meet a fault at every request, repeatedly.
#[test]
fn a_run_against_a_hostile_server_goes_on_and_leaves_no_connections() {
    let _alone = alone();
    const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };
    for name in A_HANDFUL {
        let fault = Fault::from_name(name).unwrap();
        let server = server(&[name]);
        let steady = phases(Nanos::from_millis(500));
        let limit = Nanos::from_millis(100);
        let (run, took) =
            run_point(server.address(), closed(20), steady, KEEP_ALIVE, limit, RoundRobin::over(1));
        run.check_conservation();
        // On a busy machine some may reach the time limit first.
        let expected = run.n_failed(fault.outcome);
        let late = run.n_failed(Outcome::TimedOut);
        assert!(0 < expected && 20 <= expected + late, "{name}: {expected}, {:?}", run.examples);
        assert_eq!(run.sum(|flow| flow.ok), 0, "{name}");
        let failed = run.sum(|flow| flow.failed + flow.timed_out);
        let known = if fault.outcome == Outcome::TimedOut { expected } else { expected + late };
        assert_eq!(known, failed, "{name}: {:?}", run.examples);
        assert!(run.examples.iter().all(|example| example.kind == SMALL), "{name}: {:?}", run.examples);
        assert!(took < Nanos::from_secs(10), "{name}: {took}");
        let report = server.stop().unwrap();
        assert!(expected <= report.connections, "{name}: each failure ends its connection");
    }
    // Both ends are in this process: connections left open would show.
    assert!(n_descriptors() < 200, "{} descriptors are open", n_descriptors());
}
