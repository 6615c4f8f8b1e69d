//! The observers of a run: the progress display and the metrics tools that the user named.

use fleet::{Event, Observer};
use languages::foreign_text;
use model::Plan;
use observe::{MonitorSource, ProcessSelector, WatchedTargets};
use telemetry::{Endpoint, MonitoredRun, Telemetry, TelemetryError, TelemetryOptions};
use units::RealClock;

use crate::arguments::{MetricsArguments, MonitorArgument, WatchArgument};
use crate::exit::{Exit, Failure};
use crate::planned_run::PlannedRun;
use crate::progress::{DisplayKind, Progress};
use crate::stderr::{eprint, warn};

/// Nice value of the thread that exports metrics, so that it yields to load and server.
const NICE: i32 = 10;

/// Addresses that observers may have.
const OBSERVERS_HINT: &str = "a collector or exporter may be on this machine, in a private network or at a public \
address, but not at a link-local address";

/// Checks the addresses that metrics are pushed to, the machines that are monitored and the processes that are watched,
/// before anything is started.
pub(crate) fn check_observers(
    metrics: &MetricsArguments,
    monitors: &[MonitorArgument],
    watched: &[WatchArgument],
) -> Result<(), Failure> {
    let refused = |why: String| Failure::new(Exit::Refused, why).hint(OBSERVERS_HINT);
    metrics.otlp.as_ref().map_or(Ok(()), Endpoint::check).map_err(|why| refused(why.to_string()))?;
    for monitor in monitors {
        if let MonitorArgument::Source(source) = monitor {
            let shown = languages::without_credentials(source.machine());
            source.check().map_err(|why| refused(format!("`{shown}` cannot be monitored: {why}")))?;
        }
    }
    check_watched(monitors, watched)
}

/// Checks the processes to watch: those on this machine exist, those on others are on one that is monitored.
fn check_watched(monitors: &[MonitorArgument], watched: &[WatchArgument]) -> Result<(), Failure> {
    if !watched.is_empty() && monitors.contains(&MonitorArgument::Off) {
        let error = "`--watch` names processes to monitor, but `--monitor off` monitors nothing";
        return Err(Failure::usage(error).hint("omit one of them"));
    }
    for WatchArgument { host, selector } in watched {
        let Some(host) = host else { continue };
        let is_there = |one: &MonitorArgument| match one {
            MonitorArgument::Source(source) => source.is_on(host),
            MonitorArgument::Off => false,
        };
        if !monitors.iter().any(is_there) {
            let error = format!("`--watch {}/{selector}`: this machine is not monitored", foreign_text(host));
            return Err(
                Failure::usage(error).hint(format!("add `--monitor ssh=USER@{}`", foreign_text(host)))
            );
        }
    }
    WatchedTargets::select(&watched_here(watched)).map(drop).map_err(Failure::usage)
}

/// Returns the processes to watch on this machine.
pub(crate) fn watched_here(watched: &[WatchArgument]) -> Vec<ProcessSelector> {
    watched.iter().filter(|one| one.host.is_none()).map(|one| one.selector.clone()).collect()
}

/// Returns the processes to watch on another machine.
pub(crate) fn watched_on(source: &MonitorSource, watched: &[WatchArgument]) -> Vec<ProcessSelector> {
    let is_there = |one: &&WatchArgument| one.host.as_deref().is_some_and(|host| source.is_on(host));
    watched.iter().filter(is_there).map(|one| one.selector.clone()).collect()
}

/// The observers of runs that may come in several batches: telemetry of all of them, and the progress display of each batch.
pub(crate) struct Observers {
    telemetry: Option<Telemetry>,
    /// The progress display that the user requested.
    asked: Option<DisplayKind>,
    /// The clock that began when the user did.
    clock: RealClock,
}

impl Observers {
    /// Starts to observe runs, and prints the address of the metrics endpoint. `asked` is the progress display that the user
    /// requested; `clock` began when the user did.
    pub(crate) fn new(
        runs: &[PlannedRun],
        metrics: &MetricsArguments,
        asked: Option<DisplayKind>,
        clock: RealClock,
    ) -> Result<Observers, Failure> {
        let telemetry = match metrics {
            MetricsArguments { prometheus: None, otlp: None } => None,
            _ => Some(start(runs, metrics)?),
        };
        if let Some(address) = telemetry.as_ref().and_then(Telemetry::address) {
            eprint(format!("metrics       http://{address}/metrics\n"));
        }
        Ok(Observers { telemetry, asked, clock })
    }

    /// Returns the observer of a batch of the runs, the first of which has this index among all.
    pub(crate) fn of_batch(&mut self, batch: &[PlannedRun], first: usize) -> BatchObserver<'_> {
        let plans: Vec<Plan> = batch.iter().map(|run| run.plan.clone()).collect();
        let labels: Vec<String> = batch.iter().map(|run| run.candidate.label.clone()).collect();
        let progress = Progress::new(&plans, &labels, self.asked, self.clock);
        let mut telemetry = self.telemetry.as_mut();
        if let Some(telemetry) = &mut telemetry {
            telemetry.select_run(first);
        }
        BatchObserver { progress, telemetry, first }
    }

    /// Exports the remaining metrics.
    pub(crate) fn end(self) {
        self.telemetry.map_or_else(Vec::new, Telemetry::end).into_iter().for_each(warn);
    }
}

/// An observer that passes the events of a batch of runs to its progress display and to telemetry.
pub(crate) struct BatchObserver<'a> {
    progress: Progress,
    telemetry: Option<&'a mut Telemetry>,
    /// The index of the first run of the batch among all.
    first: usize,
}

impl BatchObserver<'_> {
    /// Closes the display.
    pub(crate) fn end(mut self) {
        self.progress.end();
    }
}

fn start(runs: &[PlannedRun], metrics: &MetricsArguments) -> Result<Telemetry, Failure> {
    let name = |PlannedRun { plan, candidate, .. }: &PlannedRun| MonitoredRun {
        benchmark: plan.benchmark.id.clone(),
        version: plan.benchmark.version,
        server: candidate.label.clone(),
        transferred: plan.catalog.transferred.clone(),
        score_unit: plan.catalog.words.score.clone(),
    };
    let options = TelemetryOptions {
        listen: metrics.prometheus,
        push: metrics.otlp.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let load_cpus = runs.first().map_or_else(Vec::new, |run| run.plan.load_cpus());
    // If the system refuses, the export costs the run a little more, which the run's own checks detect.
    let deprioritize_thread = move || {
        let _ = testbed::lower_priority(NICE);
        if !load_cpus.is_empty() {
            let _ = testbed::pin_current_thread(&load_cpus);
        }
    };
    let runs = runs.iter().map(name).collect();
    Telemetry::start(options, runs, deprioritize_thread).map_err(|error| match error {
        TelemetryError::Push(_) => Failure::new(Exit::Refused, error).hint(OBSERVERS_HINT),
        _ => Failure::new(Exit::Usage, error),
    })
}

impl Observer for BatchObserver<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Some(telemetry) = self.telemetry.as_mut() {
            match &event {
                Event::Turn(run) => telemetry.select_run(self.first + run),
                Event::LoadPoint(point) => telemetry.load_point(*point),
                Event::Interval(record) => telemetry.interval(record),
                Event::Status(status) => telemetry.status(status),
                _ => {}
            }
            while let Some(text) = telemetry.warning() {
                self.progress.event(Event::Warning(text));
            }
        }
        self.progress.event(event);
    }
}
