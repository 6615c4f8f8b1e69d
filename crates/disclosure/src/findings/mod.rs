//! The wording of findings: a sentence for each, the hint with the remedy, and a shorter form for the live view.
//!
//! This is the only place where a finding of a rule becomes prose.
//!
//! - `record`: faults and contradictions of a record
//! - `generator`: the load generator and other programs
//! - `hint`: hints that fit their cause
//! - `brief`: the form for the live view
//! - `group`: the reasons of a verdict by rule
//! - `limit`: compliance with the user's limits
//! - `catalog`: differences that an audit of a plan's catalog finds
//! - `table`: differences that an audit of a result table finds

mod brief;
mod catalog;
mod generator;
mod group;
mod hint;
mod limit;
mod record;
mod table;

use analysis::Finding;
use analysis::finding::{
    BoundarySecond, CutOffPart, FailedPart, LittleExplanation, LittlePopulation, MissingPercentile,
    ScoreOfPart, SteadyFigure, UnjudgedBand,
};
use model::{CLOSE_WAIT_MAX, CODES_MAX, Outcome};
use units::Ratio;

pub use brief::finding_brief;
pub use catalog::catalog_difference_text;
pub use group::{ReasonGroup, reason_groups};
pub use hint::{Hints, reason_hint};
pub use limit::compliance_text;
pub use table::table_difference_text;

/// Returns the sentence of a finding: a clause without a full stop, with what was found and what was expected.
pub fn finding_text(finding: &Finding) -> String {
    match finding {
        Finding::Stopped { reason } => format!("the run was stopped: {reason}"),
        Finding::EndingMissing => {
            "the run file has no ending: the program or the machine died, or the disk was full".to_owned()
        }
        Finding::LoadPointsMissing { missing, n_planned } => {
            let numbers: Vec<String> = missing.iter().map(|index| (index + 1).to_string()).collect();
            format!("load point {} of {n_planned} has no records", numbers.join(", "))
        }
        Finding::UnplannedLoadPoint(found) => record::with_others(found, |index| {
            format!("a record belongs to load point {index}, which is not in the plan")
        }),
        Finding::SearchUnfinished => "the search did not finish".to_owned(),
        Finding::SearchWithoutResult => "no load point is valid and within the limits".to_owned(),
        Finding::Modified { settings } => {
            format!("differs from the benchmark's definition in: {}", settings.join(", "))
        }
        Finding::CertificateUnverified => {
            "the server's certificate was not verified (`--insecure`): any certificate was accepted"
                .to_owned()
        }
        Finding::SteadyLength { recorded, planned } => {
            format!("{recorded} of the steady phase were recorded, {planned} were planned")
        }
        Finding::TimeAxis(found) => record::with_others(found, record::interval_fault),
        Finding::EarlyEnd { end, planned } => {
            format!("the record of the load point ends at {end}, the plan at {planned}")
        }
        Finding::OperationsStarted { started, planned } if started < planned => {
            format!("the load point ended when {started} of {planned} operations had been started")
        }
        Finding::OperationsStarted { started, planned } => {
            format!("{started} operations were started, and the run was to start {planned} at most")
        }
        Finding::MissingLoad(found) => record::with_others(found, record::missing_load),
        Finding::Flow(found) => record::with_others(found, record::flow_fault),
        Finding::Totals(found) => record::with_others(found, record::unequal_totals),
        Finding::Measure(found) => record::with_others(found, record::kind_measure),
        Finding::Overflow(found) => record::with_others(found, record::overflow),
        Finding::Details { phase, difference } => {
            format!("{} phase: {}", phase.name(), record::detail_difference(difference))
        }
        Finding::Histogram { kind, moment, exact, least, most } => {
            let of = kind.as_ref().map_or(String::new(), |kind| format!(" of `{kind}`"));
            let name = record::moment_name(*moment);
            format!(
                "response times{of}: their exact {name} is {:.4e}, that of the histogram is between {:.4e} and {:.4e}",
                *exact as f64, *least as f64, *most as f64
            )
        }
        Finding::ResponseIntegral { summed, integrated, allowed } => format!(
            "response times sum up to {summed:.3} s, operations in flight and lateness to {integrated:.3} s; \
             the difference may be at most {allowed:.3} s"
        ),
        Finding::UserTime { found, expected } => format!(
            "users spent {found:.1} s in flight or thinking, but their number times the length is {expected:.1} s"
        ),
        Finding::LittleGap { found, population, explained } => format!(
            "{}; failed operations and those in flight at the ends explain {explained:.2} of it",
            little_gap(*found, *population)
        ),
        Finding::LittleGapExplained { found, population, by } => {
            format!("{}, explained: {}", little_gap(*found, *population), little_explanation(by))
        }
        Finding::ThinkTime { pause: None, found, expected } => {
            format!("users thought for {found} on average, {expected} expected")
        }
        Finding::ThinkTime { pause: Some(name), found, expected } => {
            format!("`{name}`: users paused for {found} on average, {expected} expected")
        }
        Finding::InteractiveLaw { rate, users, think, bound } => format!(
            "users completed {rate:.2} cycles per second; {users} users with a think time of {think} can complete at \
             most {bound:.2}"
        ),
        Finding::SizingCeiling(ScoreOfPart { part, users, score, unit, bound }) => format!(
            "the {users} users of a {part} reached {score:.2} {unit}; they can reach at most {bound:.2}, if responses take \
             no time"
        ),
        Finding::SizingFloor(ScoreOfPart { part, users, score, unit, bound }) => format!(
            "the {users} users of a {part} reached {score:.2} {unit}; the benchmark requires at least {bound:.2}"
        ),
        Finding::Schedule { due, scheduled } => {
            format!("{due} operations fell due in the steady phase, the schedule has {scheduled}")
        }
        Finding::GeneratorUnmeasured { agent } => {
            format!("no metrics of the load threads of agent {agent} were recorded")
        }
        Finding::GeneratorBusy { agent, busy, limit, server } => {
            let server = generator::server_clause(*server);
            format!("load agent {agent}: its CPUs were {busy} busy, limit {limit}{server}")
        }
        Finding::GeneratorRunQueue { agent, waited, limit, others, server } => {
            let others = others.as_ref().map_or(String::new(), generator::others_clause);
            let server = generator::server_clause(*server);
            format!(
                "load agent {agent}: its threads waited {waited} of the time for a CPU, limit {limit}{others}{server}"
            )
        }
        Finding::GeneratorLateness { agent, p99, limit, server } => {
            let server = generator::server_clause(*server);
            format!(
                "load agent {agent}: the 99th percentile of its lateness was {p99}, limit {limit}{server}"
            )
        }
        Finding::GeneratorFault { outcome, n } => {
            format!("{n} operations failed on the generator's side: `{}`", outcome.name())
        }
        Finding::OtherPrograms { used, share, limit, unseen } => {
            let programs = generator::programs(used);
            let share = share.map_or(String::new(), |share| generator::share_clause(share, *limit, *unseen));
            let unseen = unseen.map_or("", generator::unseen_clause);
            format!("other programs used {:.2} CPUs{share}: {programs}{unseen}", used.total)
        }
        Finding::OtherClients { connections, requests } => other_clients(*connections, *requests),
        Finding::Errors { n, completed, ratio, limit, most_frequent } => {
            let most = most_frequent.map_or("", Outcome::name);
            format!(
                "{n} of {completed} operations failed ({ratio}), mostly `{most}`; at most {limit} are allowed"
            )
        }
        Finding::UncountedCodes { n } => format!(
            "{n} operations failed with protocol codes beyond the {CODES_MAX} different ones that are counted per kind; \
             their failures are counted, their codes are not"
        ),
        Finding::StorageFull { n } => {
            format!("{n} operations found no room: the disk or a quota of the server is full")
        }
        Finding::StorageReadOnly { n } => {
            format!("{n} operations found what they were to change read-only")
        }
        Finding::Consistency { moment, name, found } => {
            format!("{moment} the load point, the check `{name}` does not hold: {found}")
        }
        Finding::LeftOpen { n, ok } => format!(
            "the server left {n} of {ok} connections open after a complete last reply; the load generator waited up to \
             {CLOSE_WAIT_MAX} for each and then closed it, and the wait is part of the response time"
        ),
        Finding::ConnectionsLost { n, completed } => format!(
            "{n} kept connections had ended when a request was sent on them, in all phases ({completed} operations completed \
             in the steady phase); idempotent requests were retried on new connections, as part of the same \
             operations"
        ),
        Finding::RepliesChanged { name, found } => format!("{name} {found}"),
        Finding::Delivered { rate, offered, limit } => format!(
            "{rate:.1} of {offered:.1} operations per second were delivered, at least {:.0} % are required",
            100.0 * limit.0
        ),
        Finding::FullSlots { slots, seconds } => format!(
            "all {slots} slots for operations in flight were taken at the end of {seconds} seconds; \
             operations that fell due then waited while their response time ran"
        ),
        Finding::BusyUsers { n, started, users } => format!(
            "{n} of {started} operations waited until their user, one of {users}, had finished the previous \
             one; the wait is part of their response time"
        ),
        Finding::Mix { kind, share, expected, limit } => format!(
            "`{kind}` is {share} of all completed operations, expected {expected}; the share may deviate by \
             {limit} of that"
        ),
        Finding::InputBand { name, found, least, most } => {
            format!("{name}: {found:.5}, expected {least:.5} to {most:.5}")
        }
        Finding::InputBandsNotJudged { bands } => {
            let band = |one: &UnjudgedBand| format!("{} ({} of {} needed)", one.name, one.n, one.needed);
            let bands: Vec<String> = bands.iter().map(band).collect();
            format!("not judged, because samples of this size are too small: {}", bands.join(", "))
        }
        Finding::KindLimit { kind, limit, value } => {
            format!("`{kind}`: {} {}, limit {limit}", limit.metric(), limit.metric().text(*value))
        }
        Finding::KindLimitNotJudged { kind, limit, n, needed } => format!(
            "the limit {limit} of `{kind}` was not judged: {n} of its operations succeeded, at least {needed} are needed"
        ),
        Finding::StageLimit { limit, value } => {
            format!("{} {}, limit {limit}", limit.metric(), limit.metric().text(*value))
        }
        Finding::StageLimitNotJudged { limit, n } => {
            format!("the limit {limit} was not judged: {n} operations succeeded, which are too few for it")
        }
        Finding::TooFewOperations { n, needed } => {
            format!("{n} operations succeeded in the steady phase, at least {needed} are needed")
        }
        Finding::MissingPercentiles { n, missing } => {
            let missing: Vec<String> = missing.iter().map(missing_percentile).collect();
            format!("{n} response times are too few for some percentiles: {}", missing.join(", "))
        }
        Finding::InFlightAtEnd { n, age_mean, of_operations, of_time } => format!(
            "{n} operations were in flight at the end of the steady phase, on average for {age_mean}: {of_operations} of \
             its operations and {of_time} of its response time, excluded from every rate and mean; this affects \
             long operations more often"
        ),
        Finding::PhaseBoundary { second, completed, median } => {
            let place = match second {
                BoundarySecond::First => "first",
                BoundarySecond::Last => "last",
            };
            format!(
                "{completed} operations completed in the {place} second of the steady phase, {median:.0} in the median \
                 second; they belong to another phase"
            )
        }
        Finding::Drift { figure, by } => format!(
            "the {} {} by {:.1} % over the steady phase (95 % CI {:+.1} to {:+.1} %); it never reached a steady state",
            figure_name(*figure),
            if by.value < 0.0 { "fell" } else { "rose" },
            100.0 * by.value.abs(),
            100.0 * by.low,
            100.0 * by.high
        ),
        Finding::Variation { figure, variation, by_chance } => format!(
            "the {} varied by {variation} between tenths of the steady phase, of which chance explains {by_chance}; it \
             never reached a steady state",
            figure_name(*figure)
        ),
        Finding::WarmUp { reach, length } => format!(
            "the warm-up lasted until {:.0} s into the steady phase of {:.0} s (MSER-5); a tenth of it is tolerated",
            reach.as_secs_f64(),
            length.as_secs_f64()
        ),
    }
}

/// Returns the remedy for a finding: a clause without a full stop; `None` if there is none.
pub fn finding_hint(finding: &Finding) -> Option<&'static str> {
    match finding {
        Finding::CertificateUnverified => Some("to trust your own certificate authority, use `--ca FILE`"),
        Finding::MissingLoad(_) => {
            Some("look for a load machine that stopped or started late, and repeat the run")
        }
        Finding::Flow(_)
        | Finding::Totals(_)
        | Finding::Measure(_)
        | Finding::Overflow(_)
        | Finding::Details { .. } => {
            Some("the record contradicts itself; repeat the run, and report this if it happens again")
        }
        Finding::Histogram { .. } => {
            Some("percentiles from such a histogram are meaningless, even if its mean is right")
        }
        Finding::ResponseIntegral { .. } => {
            Some("response times that leave out waiting hide a stall (coordinated omission)")
        }
        Finding::UserTime { .. } => Some("some users did not run, or the generator was too slow to run them"),
        Finding::ThinkTime { .. } => Some("the generator was late, or the steady phase is short"),
        Finding::InteractiveLaw { .. } => Some("users did not think as long as defined"),
        Finding::SizingCeiling(_) => Some("users did not pause as long as defined"),
        Finding::SizingFloor(_) => {
            Some("the server cannot sustain this many users; reduce the load and the data scale together")
        }
        Finding::Schedule { .. } => Some(
            "the generator lost or repeated operations; repeat the run, and report this if it happens again",
        ),
        Finding::GeneratorBusy { server, .. } | Finding::GeneratorRunQueue { server, .. } => {
            generator::limit_hint(*server, generator::MORE_CPUS)
        }
        Finding::GeneratorLateness { server, .. } => generator::limit_hint(*server, generator::OFFER_LESS),
        Finding::OtherPrograms { share: Some(share), limit, unseen: None, .. } if limit <= share => {
            Some(generator::END_OTHERS)
        }
        Finding::GeneratorFault { outcome, .. } => Some(match outcome {
            Outcome::NoLocalPort => "see `plimsoll doctor` on local ports and TIME-WAIT",
            Outcome::NoDescriptor => "raise the limit of open files, see `plimsoll doctor`",
            _ => "the target policy forbids this address",
        }),
        Finding::UncountedCodes { .. } => {
            Some("see the examples: servers rarely send so many different codes")
        }
        Finding::StorageFull { .. } => {
            Some("free room, or use less data or fewer users; what others write there takes room, too")
        }
        Finding::StorageReadOnly { .. } => Some(
            "look for errors of the disk in the system’s log: file systems turn read-only when they meet one; then mount it for \
             writing again",
        ),
        Finding::Consistency { .. } => {
            Some("the run did not execute the benchmark as defined; fix the server or its data and rerun")
        }
        Finding::LeftOpen { .. } => Some(
            "make the server close connections on request (RFC 9112 section 9.6), or measure with `--keep-alive`",
        ),
        Finding::ConnectionsLost { .. } => Some(
            "raise the server's limits on idle connections and on requests per connection, let it announce the end with \
             `Connection: close`, or measure with `--connection per-request`",
        ),
        Finding::RepliesChanged { .. } => Some(
            "a page that changes is still measured; `--check length`, `--check status` or `--check body` \
             chooses what is compared",
        ),
        Finding::Errors { most_frequent: Some(Outcome::ConnectionLost), .. } => Some(
            "non-idempotent requests, such as POST, are not retried: keep the server's idle connections open \
             for longer than users think, or measure with `--connection per-request`",
        ),
        Finding::Errors {
            most_frequent: Some(Outcome::Reset | Outcome::Truncated | Outcome::StreamReset),
            ..
        } => Some(
            "the server closes connections instead of replying: see its log; raise its limit on connections \
             (nginx: `worker_connections`), or offer fewer",
        ),
        Finding::Errors { most_frequent: Some(Outcome::WrongBytes | Outcome::WrongLength), .. } => Some(
            "if the page's body changes by design, use `--check status`, or another `reply` in a definition",
        ),
        Finding::OtherClients { .. } => {
            Some("the rate is that of one client among several: stop the others, and repeat the run")
        }
        Finding::Delivered { .. } => {
            Some("the server cannot sustain this rate; offer lower rates with `--rate`")
        }
        Finding::BusyUsers { .. } => Some("divide the load among more users with `--in-flight-max`"),
        Finding::Mix { .. } => Some(
            "failures or a time limit that affect one kind more than the others shift the mix; a longer steady phase \
             reduces the gap",
        ),
        Finding::InputBand { .. } => {
            Some("failures that affect some inputs more than others shift the remaining distribution")
        }
        Finding::InputBandsNotJudged { .. } => Some("use a longer steady phase or more load"),
        Finding::KindLimit { .. } => {
            Some("the server does not meet the benchmark's limits at this load; offer less")
        }
        Finding::KindLimitNotJudged { .. } => Some("use a longer steady phase or more load"),
        Finding::StageLimit { .. } => Some("the server does not meet this limit at the load of the stage"),
        Finding::StageLimitNotJudged { .. } => Some("use longer stages or more load"),
        Finding::TooFewOperations { .. } => Some("use a longer steady phase or more load"),
        Finding::OperationsStarted { started, planned } if started < planned => {
            Some("a longer `--duration` has time for the others")
        }
        Finding::PhaseBoundary { second: BoundarySecond::First, .. } => {
            Some("use a longer settle phase to keep a start-up burst out of the steady phase")
        }
        Finding::PhaseBoundary { second: BoundarySecond::Last, .. } => Some(
            "operations that had waited were answered together: look for a stall in the timeline, and repeat the run",
        ),
        Finding::Drift { .. } => Some("use a longer settle phase; the server may leak or still warm up"),
        Finding::Variation { .. } => {
            Some("see the timeline; another program may run on the server from time to time")
        }
        Finding::WarmUp { .. } => Some("use a longer settle phase"),
        Finding::Stopped { .. }
        | Finding::EndingMissing
        | Finding::LoadPointsMissing { .. }
        | Finding::UnplannedLoadPoint(_)
        | Finding::SearchUnfinished
        | Finding::SearchWithoutResult
        | Finding::Modified { .. }
        | Finding::SteadyLength { .. }
        | Finding::TimeAxis(_)
        | Finding::EarlyEnd { .. }
        | Finding::OperationsStarted { .. }
        | Finding::LittleGap { .. }
        | Finding::LittleGapExplained { .. }
        | Finding::GeneratorUnmeasured { .. }
        | Finding::OtherPrograms { .. }
        | Finding::Errors { .. }
        | Finding::FullSlots { .. }
        | Finding::MissingPercentiles { .. }
        | Finding::InFlightAtEnd { .. } => None,
    }
}

fn other_clients(connections: Option<f64>, requests: Option<Ratio>) -> String {
    let connections = connections.map(|n| {
        let connections = if n < 1.5 { "connection" } else { "connections" };
        format!("{n:.0} {connections}")
    });
    let requests = requests.map(|share| format!("{share} of the requests that it counted"));
    let parts: Vec<String> = connections.into_iter().chain(requests).collect();
    format!("the server had other clients, with {}", parts.join(" and "))
}

fn little_gap(found: f64, population: LittlePopulation) -> String {
    let law = match population {
        LittlePopulation::Users(users) => format!("X·(R + Z) = {found:.2} for N = {users}"),
        LittlePopulation::Operations(operations) => {
            format!("X·R = {found:.2} for {operations:.2} operations that wait or are in flight on average")
        }
    };
    let n = population.n();
    format!("{law}, a gap of {:.1} %", 100.0 * (n - found).abs() / n)
}

fn little_explanation(explanation: &LittleExplanation) -> String {
    let failed =
        |part: &FailedPart| format!("{} failed operations kept {:.2} users busy", part.n, part.users);
    let ends = |part: &CutOffPart| {
        format!(
            "long operations were cut off by the ends of the phase ({} in flight at its end), {:.2} users",
            part.in_flight, part.users
        )
    };
    match explanation {
        LittleExplanation::Failures(part) => failed(part),
        LittleExplanation::Ends(part) => ends(part),
        LittleExplanation::Both(one, other) => format!("{}, and {}", failed(one), ends(other)),
    }
}

fn missing_percentile(missing: &MissingPercentile) -> String {
    format!("p{} needs {}", (missing.q.0 * 1000.0).round() / 10.0, missing.needed)
}

fn figure_name(figure: SteadyFigure) -> &'static str {
    match figure {
        SteadyFigure::Rate => "rate",
        SteadyFigure::ResponseMean => "mean response time",
    }
}
