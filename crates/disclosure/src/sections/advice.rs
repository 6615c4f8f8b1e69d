//! Advice about a bottleneck, from what is known of it: who used the CPUs, which thread is full, what is waited for.

use analysis::attribute::{
    Attribution, BUFFER_READS_MIN, Bottleneck, Indicator, REFAULTS_MIN, SERVICE_COUNTS_MIN,
    SESSIONS_AT_LOG_MIN, UsedUpQuota,
};
use analysis::{LoadPointResult, SharedCpus};

use super::back_ends::{BackEnd, back_end_at, back_ends, busiest_program, cpus_of};
use crate::bottleneck::{cpus_text, is_one_user, neighbor_use};
use crate::{Report, reason_hint};

/// The part of the server's CPU time from which a program's use of it is most of it. A house rule.
const MOST_MIN: f64 = 0.5;

/// The part of the sessions that wait for locks or for the log from which that is said. A house rule.
const SESSIONS_MIN: f64 = 0.2;

/// The use of CPUs below which a service that is waited for waits itself, in CPUs. A house rule.
const IDLE_MAX: f64 = 0.5;

/// A load point with its bottleneck.
struct Limited<'a> {
    report: &'a Report<'a>,
    point: &'a LoadPointResult,
    found: &'a Attribution,
}

/// Returns what relieves the bottleneck of a load point, or shows its cause: sentences.
pub(super) fn advice(report: &Report, point: &LoadPointResult, found: &Attribution) -> Vec<String> {
    let limited = Limited { report, point, found };
    let first = match found.bottleneck {
        Bottleneck::Processor => limited.processor(),
        Bottleneck::DownstreamService => limited.downstream(),
        Bottleneck::Waiting => limited.waiting(),
        Bottleneck::ConnectionLimit => vec![limited.connections()],
        Bottleneck::Generator => vec![limited.generator()],
        other => vec![usual(other).to_owned()],
    };
    first.into_iter().chain(more(found).map(str::to_owned)).collect()
}

impl Limited<'_> {
    fn value(&self, indicator: Indicator) -> Option<f64> {
        self.found.indicators.get(&indicator).copied()
    }

    fn is_evidence(&self, indicator: Indicator) -> bool {
        self.found.evidence.iter().any(|(condition, _)| condition.indicator == indicator)
    }

    fn processor(&self) -> Vec<String> {
        let limit = self.quota().or_else(|| self.neighbor()).or_else(|| self.one_cpu());
        let limit = limit.or_else(|| self.found.shared.as_ref().map(apart));
        let limit = limit.unwrap_or_else(|| usual(Bottleneck::Processor).to_owned());
        [Some(limit), self.busiest_program()].into_iter().flatten().collect()
    }

    fn quota(&self) -> Option<String> {
        let UsedUpQuota { cpus, group } = self.found.quota.as_ref()?;
        let group = group.as_ref().and_then(|group| control_group(self.report, group));
        let group = group.map_or(String::new(), |path| format!(" of control group {path}"));
        Some(format!(
            "Raise the CPU quota of {}{group}, or lower the server’s CPU time per operation: profile it under this load.",
            cpus_text(*cpus)
        ))
    }

    fn neighbor(&self) -> Option<String> {
        let (program, cpus) = neighbor_use(self.found.neighbor.as_ref()?);
        Some(format!("Give the server CPUs of its own: {program} used {} of its CPUs.", cpus_text(cpus)))
    }

    /// One thread or process is full, and other CPUs are of no use to it.
    fn one_cpu(&self) -> Option<String> {
        let kinds = [
            (Indicator::BusiestProcess, "process"),
            (Indicator::BusiestThread, "thread"),
            (Indicator::CpuBusiest, "thread"),
        ];
        let (_, kind) = kinds.into_iter().find(|(indicator, _)| self.is_evidence(*indicator))?;
        Some(format!(
            "One {kind} of the server saturates one CPU while others idle: run more of them, or lower its CPU \
             time per operation."
        ))
    }

    /// Says which of several programs used most of the server's CPU time.
    fn busiest_program(&self) -> Option<String> {
        let (name, cpus, total) = busiest_program(self.point)?;
        let behind = back_ends(self.report).into_iter().find(|one| one.program.as_deref() == Some(name));
        let title = behind.map_or(name.to_owned(), |one| one.title());
        (MOST_MIN * total <= cpus).then(|| {
            format!("Most of this CPU time is used by {title}: {cpus:.2} of {total:.2} CPUs. Start there.")
        })
    }

    fn downstream(&self) -> Vec<String> {
        let Some(service) = &self.found.service else {
            return vec![usual(Bottleneck::DownstreamService).to_owned()];
        };
        let behind = back_end_at(self.report, service);
        let title = behind.as_ref().map_or(service.clone(), BackEnd::title);
        let first = format!("The server waits for {title}: make it faster, or call it less often.");
        let more = match &behind {
            Some(behind) => cpus_of(self.point, &behind.label).map(|cpus| {
                let waits = if cpus < IDLE_MAX { ", so it waits itself" } else { "" };
                format!("It used {cpus:.2} CPUs meanwhile{waits}.")
            }),
            None => (!self.is_watch_given()).then(|| "Watch it too (`--watch`).".to_owned()),
        };
        [Some(first), more, self.sessions()].into_iter().flatten().collect()
    }

    /// Says what the sessions of a database wait for, as far as it tells.
    fn sessions(&self) -> Option<String> {
        let waits = [(Indicator::SessionsAtLock, "locks"), (Indicator::SessionsAtLog, "its log")];
        let found = waits.into_iter().filter_map(|(indicator, what)| Some((self.value(indicator)?, what)));
        let (share, what) = found.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let percent = 100.0 * share;
        (SESSIONS_MIN <= share)
            .then(|| format!("Sessions of the database wait for {what} in {percent:.0} % of operations."))
    }

    fn waiting(&self) -> Vec<String> {
        let first = if is_one_user(self.point.load) {
            "One user alone meets no contention: its operations wait for something outside the server’s CPUs, such as a \
                 service behind it or a timer."
        } else {
            "The server waits while its resources are idle: look for locks, and for slow services behind it."
        };
        let titles: Vec<String> = back_ends(self.report).iter().map(BackEnd::title).collect();
        let more = if !titles.is_empty() {
            Some(format!("It is connected to {}.", titles.join(", ")))
        } else if self.is_watch_given() {
            None
        } else {
            Some("`--watch` adds the processes of such services.".to_owned())
        };
        [Some(first.to_owned()), self.sessions(), more].into_iter().flatten().collect()
    }

    fn connections(&self) -> String {
        if let Some((service, n)) = self.found.service.as_ref().zip(self.value(Indicator::PoolAtLimit)) {
            let title = back_end_at(self.report, service).map_or(service.clone(), |one| one.title());
            return format!(
                "Make the server’s pool of connections to {title} larger: all {n:.0} are in use while operations wait."
            );
        }
        if [Indicator::ConnectionsCut, Indicator::KeptConnectionsCut]
            .into_iter()
            .any(|one| self.is_evidence(one))
        {
            return "Raise the number of connections that the server serves at once, which its error log names (nginx: \
                    `worker_connections`)."
                .to_owned();
        }
        usual(Bottleneck::ConnectionLimit).to_owned()
    }

    fn generator(&self) -> String {
        let mut limits =
            self.point.verdict.reasons.iter().filter(|reason| reason.finding.is_generator_limit());
        let hint = limits.find_map(|reason| reason_hint(self.report.analysis, reason));
        hint.map_or(usual(Bottleneck::Generator).to_owned(), |hint| {
            format!("The server’s limit was not reached: {hint}.")
        })
    }

    /// Returns whether the run's command names processes to watch.
    fn is_watch_given(&self) -> bool {
        self.report.provenance.command.iter().any(|argument| argument.starts_with("--watch"))
    }
}

/// Advises to take the load generator away from CPUs that it shares with the server.
fn apart(shared: &SharedCpus) -> String {
    format!(
        "Run the load generator on another machine: it takes {} from the server; or lower the server’s CPU time per \
         operation: profile it under this load.",
        cpus_text(shared.generator)
    )
}

/// Returns the path of the control group that sets the CPU quota of a group of watched processes, as it was found.
fn control_group(report: &Report, group: &str) -> Option<String> {
    let name = format!("{group}, limit in force: CPU quota");
    let mut facts = report.testbed.sections.iter().flat_map(|section| &section.facts);
    let found = facts.find(|fact| fact.name == name)?;
    found.value.split_once("control group ").map(|(_, path)| path.to_owned())
}

/// Returns what else the indicators say about the cause of a bottleneck; `None` if nothing.
fn more(found: &Attribution) -> Option<&'static str> {
    let value = |indicator| found.indicators.get(&indicator).copied();
    let is_counted_rarely = value(Indicator::ServiceCounts).is_some_and(|n| n < SERVICE_COUNTS_MIN);
    let is_read_again = value(Indicator::RefaultsPerOperation).is_some_and(|n| REFAULTS_MIN <= n);
    let has_small_buffers = value(Indicator::BufferReadsPerOperation).is_some_and(|n| BUFFER_READS_MIN <= n);
    let waits_for_log = value(Indicator::SessionsAtLog).is_some_and(|share| SESSIONS_AT_LOG_MIN <= share);
    match found.bottleneck {
        Bottleneck::Undetermined if is_counted_rarely => Some(
            "The server’s connections to services were counted too rarely: measure for longer, or with fewer connections on \
             the machine.",
        ),
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth if is_read_again => {
            Some("Memory comes first: much of what is read had been in memory and was evicted.")
        }
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth if has_small_buffers => Some(
            "The database’s buffers come first: it reads pages that they do not hold. Make them larger, as far as there is \
             memory.",
        ),
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth if waits_for_log => Some(
            "Its log comes first: sessions wait until it is written. A faster disk for the log relieves them.",
        ),
        _ => None,
    }
}

/// Returns what relieves a bottleneck of which nothing else is known.
fn usual(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::None | Bottleneck::Undetermined => {
            "No single resource limits the server: monitor its machine (`--monitor`), and look for waits inside the \
             application."
        }
        Bottleneck::Processor => {
            "Give the server more CPU time, or lower its CPU time per operation: profile it under this load."
        }
        Bottleneck::Memory => "Give the server more memory, or let it keep less in it.",
        Bottleneck::DiskOperations => {
            "Keep more in memory, batch writes, or use a disk with more operations per second."
        }
        Bottleneck::DiskBandwidth => "Keep more in memory, or use a disk with more bandwidth.",
        Bottleneck::Network => "Send fewer bytes (compression, caching), or use a faster link.",
        Bottleneck::AcceptBacklog => {
            "Raise the server’s listen backlog and `net.core.somaxconn`, or accept connections faster."
        }
        Bottleneck::WorkerLimit => "Raise the number of workers as far as memory and CPUs allow.",
        Bottleneck::ConnectionLimit => {
            "Raise the limit on connections: of the server, of the pool to the service behind it, and of that service."
        }
        Bottleneck::OpenFiles => "Raise the server’s limit of open files (`ulimit -n`, `LimitNOFILE`).",
        Bottleneck::RateLimit => {
            "The server refuses operations beyond a rate of its own: raise that limit, or expect no more than this."
        }
        Bottleneck::ConcurrencyLimit => {
            "The server serves so many operations at once and refuses others: raise that number, or make operations shorter."
        }
        Bottleneck::ServerLimit => {
            "The server refuses operations beyond a limit of its own, on their rate or on their number at once: its \
             configuration and its error log say which."
        }
        Bottleneck::BackEndConnections => {
            "The proxy has no connection to its back end for these operations; its error log says why: no local ports left \
             (keep connections to the back end open), a limit on them, or a back end that refuses or does not answer."
        }
        Bottleneck::Scheduler => "Run fewer threads at once, or give the server more CPUs.",
        Bottleneck::DownstreamService => {
            "The server waits for a service behind it: make it faster, or call it less often."
        }
        Bottleneck::Waiting => {
            "The server waits while its resources are idle: look for locks, and for slow services behind it."
        }
        Bottleneck::Generator => {
            "Give the load generator more CPUs (`--load-cpus`) or a machine of its own: the server’s limit was not reached."
        }
    }
}
