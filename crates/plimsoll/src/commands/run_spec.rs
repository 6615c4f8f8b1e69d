//! A run as its user asks for it: its arguments, resolved once.

use std::path::PathBuf;

use analysis::compare::ChangeBound;
use fleet::Monitoring;
use model::{Notes, Overrides, ReplyBody, Request};

use super::inventory;
use crate::arguments::{MetricsArguments, MonitorArgument, RunArguments, SutArguments, WatchArgument};
use crate::benchmark::{ChosenBenchmark, Subject};
use crate::candidate::Candidate;
use crate::candidates::candidates;
use crate::exit::Failure;
use crate::family::command_line;
use crate::load_agents::LoadAgents;
use crate::observers::{check_observers, watched_here, watched_on};
use crate::progress::DisplayKind;
use crate::settings::{SettingCombination, combinations};
use crate::{paths, prices, subject};

/// A run as its user asks for it. What else a run needs is read from it, and nothing of it is changed.
pub(super) struct RunSpec {
    /// The benchmark, or what was made of URLs.
    pub chosen: ChosenBenchmark,
    /// Those of the other servers, where each is compared by a page of its own; else empty.
    pub others: Vec<ChosenBenchmark>,
    /// Overrides of its definition in all plans; server, CPUs and settings follow for each server.
    pub overrides: Overrides,
    /// The combinations of settings that each server is loaded with; not empty.
    pub settings: Vec<SettingCombination>,
    /// The servers, and the division of CPUs.
    pub sut: SutArguments,
    /// The load agents, where the load is performed by processes of their own.
    pub agents: LoadAgents,
    /// The machines that are monitored, and the processes on them.
    pub monitoring: Monitoring,
    /// The tools that live metrics go to.
    pub metrics: MetricsArguments,
    /// The progress display that the user wants; `None` for what suits the terminal.
    pub display: Option<DisplayKind>,
    /// The operator's notes, with the price list.
    pub notes: Notes,
    /// Whether identities are disclosed.
    pub disclose_identity: bool,
    /// The bounds of the changes of servers that are compared.
    pub bounds: Vec<ChangeBound>,
    /// Whether an undecided bound counts as exceeded.
    pub is_strict: bool,
    /// The run file, or the directory of several.
    pub out: Option<PathBuf>,
    /// The JUnit XML file with verdict and limits.
    pub junit: Option<PathBuf>,
    /// The command line, without the data of `-d`.
    pub command_line: String,
    /// Whether the think time follows from what the servers carry.
    pub calibrate_think_time: bool,
    /// Whether the plan is only printed.
    pub dry_run: bool,
}

impl RunSpec {
    /// Resolves the arguments: finds the benchmark, or asks the server for the pages of URLs; reads the files that are named.
    ///
    /// # Errors
    /// Arguments contradict each other, or name what there is not.
    pub(super) fn resolve(arguments: RunArguments) -> Result<RunSpec, Failure> {
        let command_line = paths::command_line(arguments.url.data.as_deref());
        if (arguments.url.compare || 1 < arguments.sut.target.len()) && !arguments.agents.is_empty() {
            return Err(Failure::usage("`--agents` cannot be used with servers that are compared").hint(
                "load them from this machine, or each by a run of its own, and use `plimsoll compare`",
            ));
        }
        let Subject { chosen, others, overrides, settings, sut } =
            subject::choose(arguments.plan, arguments.url, arguments.sut)?;
        // Mistakes in them are reported before hours are spent.
        let notes = inventory::notes(arguments.disclosure.notes.as_deref())?;
        let notes = prices::read_into(arguments.price.as_deref(), notes)?;
        let settings = combinations(&settings, chosen.benchmark.definition.family())?;
        check_observers(&arguments.metrics, &arguments.monitor, &arguments.watch)?;
        Ok(RunSpec {
            chosen,
            others,
            bounds: arguments.fail_if.into_iter().flat_map(|list| list.0).collect(),
            is_strict: arguments.strict,
            overrides,
            settings,
            sut,
            agents: LoadAgents::of(&arguments.agents),
            monitoring: monitoring(&arguments.monitor, &arguments.watch),
            metrics: arguments.metrics,
            display: arguments.display.kind(),
            notes,
            disclose_identity: arguments.disclosure.disclose_identity,
            out: arguments.out,
            junit: arguments.junit,
            command_line,
            calibrate_think_time: arguments.calibrate_think_time,
            dry_run: arguments.dry_run,
        })
    }

    /// Returns the benchmark of a server: its own page, where servers are compared by one each.
    pub(super) fn chosen_for(&self, candidate: &Candidate) -> &ChosenBenchmark {
        candidate.page.checked_sub(1).and_then(|index| self.others.get(index)).unwrap_or(&self.chosen)
    }

    /// Returns the benchmarks: that of the first server, and those of the others where each has one of its own.
    pub(super) fn all_chosen(&self) -> impl Iterator<Item = &ChosenBenchmark> {
        std::iter::once(&self.chosen).chain(&self.others)
    }

    /// Lists the servers to run.
    ///
    /// # Errors
    /// One cannot be loaded with the benchmark.
    pub(super) fn candidates(&self) -> Result<Vec<Candidate>, Failure> {
        let family = self.chosen.benchmark.definition.family();
        let titles = self.all_chosen().map(|one| one.benchmark.definition.title.as_str());
        let pages: Vec<&str> = titles.filter(|_| !self.others.is_empty()).collect();
        candidates(&self.sut, &self.settings, &pages, family, self.has_dynamic_pages()?)
    }

    /// Returns the same run with its load agents, which were started, if they can load the servers.
    ///
    /// # Errors
    /// They cannot, or one of them cannot be used.
    pub(super) fn with_agents_for(self, candidates: &[Candidate]) -> Result<RunSpec, Failure> {
        let family = self.chosen.benchmark.definition.family();
        candidates.iter().try_for_each(|candidate| self.agents.check(candidate, family))?;
        Ok(RunSpec { agents: self.agents.connect()?, ..self })
    }

    /// Returns whether programs generate pages of the workload, with any of the settings.
    fn has_dynamic_pages(&self) -> Result<bool, Failure> {
        let is_generated = |request: &Request| matches!(request.reply, ReplyBody::Letters { .. });
        for one in &self.settings {
            let workload = self.chosen.workload(&one.settings)?;
            if workload.web().is_some_and(|web| web.requests.iter().any(is_generated)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the same run with the certificates that the notation of a target asks for, if the arguments say nothing.
    pub(super) fn with_certificates_of(self, candidates: &[Candidate]) -> RunSpec {
        let accepts_any = command_line(self.chosen.benchmark.definition.family()).accepts_any_certificate;
        let insecure = self.sut.insecure || (self.sut.ca.is_none() && candidates.iter().any(accepts_any));
        RunSpec { sut: SutArguments { insecure, ..self.sut }, ..self }
    }
}

fn monitoring(monitors: &[MonitorArgument], watched: &[WatchArgument]) -> Monitoring {
    if monitors.contains(&MonitorArgument::Off) {
        return Monitoring::Off;
    }
    let source = |argument: &MonitorArgument| match argument {
        MonitorArgument::Off => None,
        MonitorArgument::Source(source) => Some((source.clone(), watched_on(source, watched))),
    };
    Monitoring::On { others: monitors.iter().filter_map(source).collect(), watched: watched_here(watched) }
}
