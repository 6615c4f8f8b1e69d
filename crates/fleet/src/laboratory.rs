//! The seam between the order of a run and the machines on which it happens.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::OpenedSessions;
use model::{
    CheckMoment, ConsistencyCheck, Example, IntervalRecord, LimitInForce, LoadPoint, MonitoredSource, Plan,
};
use runfile::{Header, RunFileError, Writer};
use units::Nanos;

use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::Observer;
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::reading::MonitorReading;
use crate::request::RunRequest;
use crate::seconds::MissingRecord;
use crate::stop::StopSwitch;
use crate::testbed_disclosure::TestbedDisclosure;

/// The laboratory of one run: a system under test that is up, and the load side. [`LocalLab`](crate::local::LocalLab) has
/// them on this machine; tests have one that writes down what it is asked for.
///
/// A run calls it in this order: the steps that come once, `watch`, `disclose`; for each load point the steps before it,
/// `go`, `collect`, and the steps after it; at last `stop`. The steps are those of [`StepOrder`]; `reset` comes before the
/// first load point only after a `rest`.
pub(crate) trait Laboratory {
    /// Returns the plan with the limits that are in force.
    fn plan(&self) -> &Plan;

    /// Returns the limits that are not as the request plans them.
    fn limits_in_force(&self) -> &[LimitInForce];

    /// Returns the address of the system under test, and a line that names it.
    fn described(&self) -> (String, String);

    /// Returns the files that users have on the disk of a server that the run started; `None` without such files. They stay
    /// until `stop`.
    fn disk_use(&self) -> Option<&DiskUse>;

    /// Returns the order of steps that the family states.
    fn order(&self) -> &'static StepOrder;

    /// Waits for the phase `quiet`, or until `stop` is set.
    fn quiet(&mut self, stop: &AtomicBool);

    /// Checks the golden copy from which the data of each load point are restored, once; `check` returns what was found before
    /// each of them. Does nothing where there is no such copy.
    ///
    /// # Errors
    /// If it cannot be checked, or `stop` was set.
    fn check_golden(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError>;

    /// Fills the caches of the system under test that a load point must find full.
    ///
    /// # Errors
    /// If the system under test does not let itself be warmed.
    fn warm(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError>;

    /// Checks the conditions that the benchmark sets on the system under test; returns those to be recorded. `counts` are
    /// those of the load point after it, and none before.
    ///
    /// # Errors
    /// If they cannot be checked.
    fn check(
        &mut self,
        point: LoadPoint,
        moment: CheckMoment,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<ConsistencyCheck>, FleetError>;

    /// Checks an operation of every kind.
    ///
    /// # Errors
    /// If one of them is not served as the plan has it, or `stop` was set.
    fn probe(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError>;

    /// Begins to watch the machines that the request names; returns them in the order of their numbers.
    ///
    /// # Errors
    /// If one of them cannot be read, or selected processes cannot be found.
    fn watch(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<MonitoredSource>, FleetError>;

    /// Collects what the run file says about the testbed before the first second.
    fn disclose(&self, request: &RunRequest<'_>) -> TestbedDisclosure;

    /// Creates the run file.
    ///
    /// # Errors
    /// As of [`Writer::create`].
    fn create(&self, path: &Path, header: &Header) -> Result<Writer, RunFileError> {
        Writer::create(path, header)
    }

    /// Returns what is to be recorded of the preparation since the last call.
    fn remarks(&mut self) -> Vec<String>;

    /// Puts the system under test into its first state.
    ///
    /// # Errors
    /// If it does not come up again.
    fn reset(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError>;

    /// Stops the system under test until the next `reset`, if it must be alone on the machine. Returns whether that reset
    /// is needed.
    fn rest(&mut self) -> bool;

    /// Makes the load side ready for a load point: returns when the sessions of all users are open, or could not be
    /// opened.
    ///
    /// # Errors
    /// If the load side cannot be set up.
    fn prepare(&mut self, point: LoadPoint, stop: &AtomicBool) -> Result<OpenedSessions, FleetError>;

    /// Begins the load point that was prepared.
    fn go(&mut self);

    /// Hands over what is recorded of the load point until it is over, or `stop` is set and obeyed. Returns what the
    /// family counts beside the records.
    ///
    /// # Errors
    /// If the load side fails; what was handed over until then stays.
    fn collect(
        &mut self,
        collector: &mut (dyn Collector + Send),
        stop: &StopSwitch<'_>,
    ) -> Result<FamilyCounts, FleetError>;

    /// Stops what was started.
    fn stop(self);
}

/// Takes what comes of a load point, merged over all threads.
pub(crate) trait Collector {
    /// Takes the record of one interval.
    fn interval(&mut self, record: &IntervalRecord);
    /// Takes the first example of a failure.
    fn example(&mut self, example: Example);
    /// Takes a reading of a machine at a time since the start of the load point.
    fn readings(&mut self, machine: u32, at: Nanos, reading: MonitorReading);
    /// Takes the records that were missing when their intervals were closed, at least one, when the load point is over.
    fn missing(&mut self, records: &[MissingRecord]);
    /// Takes the error that ends the load point: the system under test has died, or a record was refused.
    fn failed(&mut self, error: FleetError);
}
