//! `bench-application`: the CPU time of a small transaction with the built-in application server, at both ends,
//! compared with HTTP requests of the same size to nginx; and the load generator's memory per session.
//!
//! The server has CPU 0, the generator CPU 1. All load is Plimsoll's own, and the CPU times of both ends are those
//! that it reports for the steady phase.
//!
//! - `loads`: the cases, and the definitions of their loads
//! - `servers`: starting the servers
//! - `page`: the tables

mod loads;
mod page;
mod servers;

use std::path::Path;

use anyhow::Result;

use self::loads::{ApplicationLoad, CASES};
use super::figures::Column;
use super::harness::{Case, Facts, Measurement};
use super::load_tools::{PlimsollRun, number};
use super::machine::{NGINX, Program};
use super::options::BenchOptions;
use super::require_open_files;
use super::rounds::{Contender, MeasuredRounds};
use super::site::Site;
use crate::packages::RequiredPackage;

/// Transactions and requests in turns.
pub(super) struct ApplicationMeasurement {
    site: Site,
    seconds: u32,
}

/// The costs of a turn. CPU times are those per operation of the steady phase, in µs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApplicationCosts {
    /// Of the load thread.
    generator_us: f64,
    /// Mean number of CPUs that it used, of one.
    generator_cpus: f64,
    /// Of all processes of the server.
    server_us: f64,
    server_cpus: f64,
    /// Number of service threads; of nginx `None`.
    service_threads: Option<u64>,
    /// Maximum resident memory of the generator until near the end of the load, in KiB.
    rss_kib: f64,
}

const GENERATOR: Column<ApplicationCosts> =
    Column::with_cpus("generator, µs", |costs| costs.generator_us, |costs| costs.generator_cpus);
const SERVER: Column<ApplicationCosts> =
    Column::with_cpus("server, µs", |costs| costs.server_us, |costs| costs.server_cpus);
const MEMORY: Column<ApplicationCosts> = Column::new("memory, KiB", 0, |costs| costs.rss_kib);

/// The columns of every turn.
const COLUMNS: [Column<ApplicationCosts>; 3] = [GENERATOR, SERVER, MEMORY];

impl Measurement for ApplicationMeasurement {
    type Load = ApplicationLoad;
    type Costs = ApplicationCosts;

    const NAME: &'static str = "bench-application";
    const PAGE: &'static str = "docs/bench-application.md";
    const NEEDED: &'static [RequiredPackage] = &[("nginx", "nginx-light"), ("taskset", "util-linux")];
    const PROGRAMS: &'static [Program] = &[NGINX];
    const ROUNDS: usize = 9;
    const SECONDS: u32 = 4;
    const CASES: &'static [Case<ApplicationLoad>] = &CASES;

    fn prepare(options: &BenchOptions, plimsoll: &Path) -> Result<ApplicationMeasurement> {
        require_open_files()?;
        let site = Site::empty(plimsoll)?;
        loads::write_files(&site)?;
        Ok(ApplicationMeasurement { site, seconds: options.seconds })
    }

    /// Starts a server of the same build as the generator, and runs the load.
    fn take(&mut self, load: &ApplicationLoad, contender: &Contender) -> Result<ApplicationCosts> {
        let ApplicationMeasurement { site, seconds } = self;
        let ApplicationLoad { arguments, server, clients, .. } = load;
        let program = contender.program.as_ref().unwrap_or(&site.plimsoll);
        let server = server.start(program, site, *clients)?;
        let arguments = format!("{arguments} --load {clients} --duration {seconds}s");
        let look_after = f64::from(*seconds);
        let run = PlimsollRun { program, look_after, ..site.run(&arguments, &server.target) };
        let (ended, point) = run.perform()?;
        Ok(ApplicationCosts {
            generator_us: 1e6 * number(&point, "/generator/cpu_per_operation_s")?,
            generator_cpus: number(&point, "/generator/busy_ratio")?,
            // A server that was not seen has no costs, rather than none.
            server_us: 1e6 * number(&point, "/sut/cpu_per_operation_s")?,
            server_cpus: number(&point, "/sut/cpus")?,
            service_threads: server.service_threads,
            rss_kib: ended.rss_kib,
        })
    }

    fn columns(_: &'static ApplicationLoad) -> &'static [Column<ApplicationCosts>] {
        &COLUMNS
    }

    fn compared(load: &'static ApplicationLoad) -> &'static [Column<ApplicationCosts>] {
        load.compared
    }

    fn page(&mut self, facts: &Facts, measured: &MeasuredRounds<ApplicationCosts>) -> Result<String> {
        Ok(page::head(facts) + &page::tables(measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::harness::tests::selected;

    #[test]
    fn cases_have_the_turns_that_they_need() {
        assert_eq!(selected::<ApplicationMeasurement>(&[]).len(), CASES.len());
        let memory = selected::<ApplicationMeasurement>(&["--case", "memory"]);
        assert_eq!(memory, ["NET, 100 clients", "NET, 10,000 clients"]);
    }
}
