//! Who watches a run: the user, and the tools that were told of it.

use fleet::{Event, Observer};
use model::Plan;
use telemetry::{Endpoint, Options, RunLabels, Telemetry, TelemetryError};

use crate::arguments::{MetricsArguments, MonitorArgument};
use crate::exit::{Exit, Failure};
use crate::progress::{Kind, Progress};
use crate::tell::{tell, warn};

/// How far the thread that hands metrics over stands back from load and server.
const NICE: i32 = 10;

/// Where observers may be.
const OBSERVERS_HINT: &str = "a collector or an exporter may be on this machine, in a private network or at a public \
                              address, but not at a link-local one";

/// Checks where metrics are pushed to, and which machines are watched, before anything is started.
pub fn check_observers(metrics: &MetricsArguments, monitors: &[MonitorArgument]) -> Result<(), Failure> {
    let refused = |why: String| Failure::new(Exit::Refused, why).hint(OBSERVERS_HINT);
    metrics.otlp.as_ref().map_or(Ok(()), Endpoint::check).map_err(|why| refused(why.to_string()))?;
    for monitor in monitors {
        if let MonitorArgument::Source(source) = monitor {
            let shown = model::without_credentials(source.machine());
            source.check().map_err(|why| refused(format!("`{shown}` is not watched: {why}")))?;
        }
    }
    Ok(())
}

/// Passes on what happens.
pub struct Audience {
    progress: Progress,
    telemetry: Option<Telemetry>,
}

impl Audience {
    /// Makes the audience of runs with these plans, each with the name by which it is told from the others, and says
    /// where metrics can be had. `asked` is how its user wants to see the progress.
    pub fn new(
        plans: &[Plan],
        labels: &[String],
        metrics: &MetricsArguments,
        asked: Option<Kind>,
    ) -> Result<Audience, Failure> {
        let telemetry = match metrics {
            MetricsArguments { prometheus: None, otlp: None } => None,
            _ => Some(start(plans, labels, metrics)?),
        };
        if let Some(address) = telemetry.as_ref().and_then(Telemetry::address) {
            tell(format!("metrics       http://{address}/metrics\n"));
        }
        Ok(Audience { progress: Progress::new(plans, labels, asked), telemetry })
    }

    /// Hands over what is left.
    pub fn end(mut self) {
        self.progress.end();
        self.telemetry.map_or_else(Vec::new, Telemetry::end).into_iter().for_each(warn);
    }
}

fn start(plans: &[Plan], labels: &[String], metrics: &MetricsArguments) -> Result<Telemetry, Failure> {
    let name = |(plan, label): (&Plan, &String)| RunLabels {
        benchmark: plan.benchmark.id.clone(),
        version: plan.benchmark.version,
        server: label.clone(),
    };
    let options = Options {
        listen: metrics.prometheus,
        push: metrics.otlp.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let load_cpus = plans.first().map_or_else(Vec::new, |plan| plan.load_cpus.clone());
    // Where the system does not allow it, it costs the run a little more, which the run's own checks see.
    let stand_back = move || {
        let _ = testbed::lower_priority(NICE);
        if !load_cpus.is_empty() {
            let _ = testbed::pin_current_thread(&load_cpus);
        }
    };
    let runs = plans.iter().zip(labels).map(name).collect();
    Telemetry::start(options, runs, stand_back).map_err(|error| match error {
        TelemetryError::Push(_) => Failure::new(Exit::Refused, error).hint(OBSERVERS_HINT),
        _ => Failure::new(Exit::Usage, error),
    })
}

impl Observer for Audience {
    fn event(&mut self, event: Event<'_>) {
        if let Some(telemetry) = &mut self.telemetry {
            match &event {
                Event::Turn(place) => telemetry.select_run(*place),
                Event::LoadPoint(point) => telemetry.load_point(*point),
                Event::Interval(record) => telemetry.interval(record),
                _ => {}
            }
            while let Some(text) = telemetry.warning() {
                self.progress.event(Event::Warning(text));
            }
        }
        self.progress.event(event);
    }
}
