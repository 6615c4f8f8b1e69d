//! The load agents of a run: connecting to them, their load threads, and what keeps them from loading a server.

use std::sync::Arc;

use fleet::{
    AgentFleet, AgentOptions, AgentPlace, ConnectError, ConnectProblem, ConnectedAgent, LoadMachines,
};
use model::{AGENT_THREADS_MAX, AgentPlan, Family, Plan};

use crate::arguments::AgentsArgument;
use crate::candidate::{Candidate, ChosenServer};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::paths;
use crate::placement::CpuPlacement;
use crate::requirements::connections_max;

/// The load agents of a run; none where its own process performs the load.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadAgents {
    places: Vec<AgentPlace>,
    /// Once they are connected.
    fleet: Option<Arc<AgentFleet>>,
}

impl LoadAgents {
    /// Makes the load agents that the arguments name; none of them is started.
    pub(crate) fn of(arguments: &[AgentsArgument]) -> LoadAgents {
        LoadAgents { places: arguments.iter().flat_map(places).collect(), fleet: None }
    }

    /// Starts the load agents, and waits until they have said who they are.
    ///
    /// # Errors
    /// All of them that cannot be used.
    pub(crate) fn connect(self) -> Result<LoadAgents, Failure> {
        if self.places.is_empty() {
            return Ok(self);
        }
        let options = AgentOptions::new(std::env::current_exe()?, paths::program(), paths::build()?);
        let fleet = AgentFleet::connect(&self.places, &options, &interrupt::flag());
        let fleet = fleet.map_err(|errors| connect_failure(&errors))?;
        Ok(LoadAgents { fleet: Some(fleet), ..self })
    }

    /// Returns whether the load is performed by agents.
    pub(crate) fn are_used(&self) -> bool {
        !self.places.is_empty()
    }

    /// Returns the processes that perform the load.
    pub(crate) fn machines(&self) -> LoadMachines {
        self.fleet.as_ref().map_or(LoadMachines::Here, |fleet| LoadMachines::Agents(Arc::clone(fleet)))
    }

    /// Returns the plans of agents where the load generator has these CPUs of this machine, which local agents share; agents on
    /// other machines use all CPUs there. Empty without agents.
    pub(crate) fn plans(&self, placement: &CpuPlacement) -> Vec<AgentPlan> {
        let Some(fleet) = &self.fleet else { return Vec::new() };
        let n_local = fleet.agents().iter().filter(|agent| agent.machine == 0).count();
        let mut local = dealt(placement, n_local).into_iter();
        let plan = |agent: &ConnectedAgent| match agent.machine {
            0 => local.next().unwrap_or_else(|| AgentPlan::only(1)),
            machine => AgentPlan { machine, ..AgentPlan::only(agent.hello.cpus.clamp(1, AGENT_THREADS_MAX)) },
        };
        fleet.agents().iter().map(plan).collect()
    }

    /// Checks that agents can connect the users of a plan.
    ///
    /// # Errors
    /// All that cannot.
    pub(crate) fn check_users(&self, plan: &Plan) -> Result<(), Failure> {
        let agents = self.fleet.iter().flat_map(|fleet| fleet.agents());
        // Those of this machine share its ports, which are checked with whatever else it needs.
        let ports = |agent: &ConnectedAgent| if agent.machine == 0 { u32::MAX } else { agent.hello.ports };
        let agents = agents.map(|agent| (agent.name.as_str(), agent.hello.open_files_max, ports(agent)));
        let found = too_many_users(plan, agents);
        if found.is_empty() {
            return Ok(());
        }
        Err(Failure::new(Exit::Testbed, found.join("\nerror: "))
            .hint("raise the limit on open files there (`ulimit -Hn`), widen `net.ipv4.ip_local_port_range`, or use fewer \
                   users or more machines"))
    }

    /// Checks that agents can load a server of a family.
    ///
    /// # Errors
    /// It is within this process, or on this machine and they are not, or no agent can load the family.
    pub(crate) fn check(&self, candidate: &Candidate, family: Family) -> Result<(), Failure> {
        if self.places.is_empty() {
            return Ok(());
        }
        if family == Family::Mail {
            return Err(
                Failure::usage("load agents cannot load mail servers yet").hint("run without `--agents`")
            );
        }
        if let ChosenServer::Embedded(embedded) = &candidate.server {
            let why = format!("`--agents` cannot load {}: the data are {}", candidate.title, embedded.place);
            return Err(Failure::usage(why).hint("load a server, or run without `--agents`"));
        }
        let external = candidate.external();
        if external.is_some_and(|server| server.host_and_port().is_none()) {
            let why = "`--agents` cannot load a directory: its files are held and called by one process";
            return Err(Failure::usage(why)
                .hint("load a share of a file server (`--target smb://…`), or run without `--agents`"));
        }
        let elsewhere = |place: &AgentPlace| match place {
            AgentPlace::Local => None,
            AgentPlace::Ssh(account) => Some(format!("the load agent on `{account}`")),
        };
        let elsewhere: Vec<String> = self.places.iter().filter_map(elsewhere).collect();
        let refused = |why: &str| {
            let all: Vec<String> = elsewhere.iter().map(|agent| format!("{agent} {why}")).collect();
            Failure::usage(all.join("\nerror: "))
        };
        let loopback = external.and_then(fleet::ExternalServer::host_and_port).map(|(host, _)| host);
        match loopback.filter(|host| is_loopback(host)) {
            _ if elsewhere.is_empty() => Ok(()),
            _ if candidate.is_started() => {
                let why = format!(
                    "cannot reach {}: a server that Plimsoll starts is reached from this machine only",
                    candidate.title
                );
                Err(refused(&why).hint("start the server yourself and name it with `--target`"))
            }
            Some(host) => {
                let why = format!("would load itself: `{host}` is every machine's own");
                Err(refused(&why).hint("name the server by an address that other machines reach"))
            }
            None => Ok(()),
        }
    }
}

/// The files that an agent has open beside the connections of its users.
const OTHER_FILES: u64 = 64;

/// Returns what keeps agents from connecting the users of a plan. Of each are given its name, and how many open files and ports
/// it may have.
fn too_many_users<'a>(plan: &Plan, agents: impl IntoIterator<Item = (&'a str, u64, u32)>) -> Vec<String> {
    let addresses = u64::try_from(plan.source_addresses.len()).unwrap_or(1).max(1);
    let too_many = |(index, (name, open_files_max, ports)): (usize, (&str, u64, u32))| {
        let connections = u64::from(connections_max(plan, |agent| agent == index));
        let has = |what: &str| {
            format!("load agent {name} may have {what}, and would have {connections} connections")
        };
        [
            (open_files_max < connections + OTHER_FILES, has(&format!("{open_files_max} open files"))),
            (
                u64::from(ports) * addresses < connections,
                has(&format!("{ports} ports for each address of its own")),
            ),
        ]
    };
    let found = agents.into_iter().enumerate().flat_map(too_many);
    found.filter(|(is_too_many, _)| *is_too_many).map(|(_, text)| text).collect()
}

fn places(argument: &AgentsArgument) -> Vec<AgentPlace> {
    match argument {
        AgentsArgument::Local(n) => vec![AgentPlace::Local; *n],
        AgentsArgument::Ssh(account) => vec![AgentPlace::Ssh(account.clone())],
    }
}

/// Deals the CPUs of the load generator to agents on this machine; those that are more than the CPUs share them.
fn dealt(placement: &CpuPlacement, n: usize) -> Vec<AgentPlan> {
    let cpus = &placement.load_cpus;
    let n_threads = placement.load_threads as usize;
    let range = |index: usize, total: usize| index * total / n..(index + 1) * total / n;
    let agent = |index: usize| {
        let own = match cpus.len() {
            0 => &[][..],
            few if few < n => &cpus[index % few..=index % few],
            many => &cpus[range(index, many)],
        };
        let threads = if own.is_empty() { range(index, n_threads).len() } else { own.len() };
        AgentPlan { cpus: own.to_vec(), ..AgentPlan::only(u32::try_from(threads.max(1)).unwrap_or(u32::MAX)) }
    };
    (0..n).map(agent).collect()
}

/// Returns whether a host is the machine itself, whichever that is.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<std::net::IpAddr>();
    bare.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Returns the failure of agents that cannot be used: all of them, and what to do about the first.
fn connect_failure(errors: &[ConnectError]) -> Failure {
    let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nerror: ");
    let Some(first) = errors.first() else { return Failure::new(Exit::Internal, text) };
    match &first.problem {
        ConnectProblem::Twice | ConnectProblem::TooMany => {
            Failure::usage(text).hint("name every machine once; it uses all of its CPUs")
        }
        ConnectProblem::Interrupted => Failure::new(Exit::Interrupted, text),
        problem => Failure::new(Exit::Testbed, text).hint_if(remedy(problem).map(str::to_owned)),
    }
}

fn remedy(problem: &ConnectProblem) -> Option<&'static str> {
    match problem {
        ConnectProblem::Password(_) => Some(
            "a key is needed that asks for nothing: `ssh-copy-id USER@HOST`, and `ssh-add` if it has a passphrase",
        ),
        ConnectProblem::HostKey(_) => {
            Some("connect once by hand, compare the fingerprint, and accept it: `ssh USER@HOST`")
        }
        ConnectProblem::NoProgram => Some(
            "copy this one into the home directory there, `scp $(command -v plimsoll) USER@HOST:`, or install the package",
        ),
        ConnectProblem::Banner(_) => {
            Some("let the start-up files of the shell there print nothing when it is not interactive")
        }
        ConnectProblem::OtherBuild { .. } => {
            Some("install the same build on all machines: `scp $(command -v plimsoll) USER@HOST:`")
        }
        ConnectProblem::Silent => Some("check that the machine is up: `ssh USER@HOST plimsoll --version`"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: three CPUs for two agents are one and two; one CPU is shared; without CPUs four threads are two each.
    #[test]
    fn local_agents_share_the_cpus_of_the_load_generator() {
        let dealt = |load_cpus: &[u32], load_threads, n| {
            let placement =
                CpuPlacement { sut_cpus: Vec::new(), load_cpus: load_cpus.to_vec(), load_threads };
            let agents = dealt(&placement, n);
            agents.into_iter().map(|agent| (agent.threads, agent.cpus)).collect::<Vec<_>>()
        };
        assert_eq!(dealt(&[1, 2, 3], 3, 2), [(1, vec![1]), (2, vec![2, 3])]);
        assert_eq!(dealt(&[1], 1, 2), [(1, vec![1]), (1, vec![1])]);
        assert_eq!(dealt(&[], 4, 2), [(2, vec![]), (2, vec![])]);
        assert_eq!(dealt(&[], 1, 3), [(1, vec![]), (1, vec![]), (1, vec![])]);
    }

    /// By hand: 100 users of two agents are 50 each; with 64 other files they need 114.
    #[test]
    fn agents_with_too_few_open_files_or_ports_are_named() {
        let agents = AgentPlan::in_sequence(vec![AgentPlan::only(1); 2]);
        let plan = Plan { agents, ..testkit::closed_plan(1, &[10, 100], testkit::phases(0, 1)) };
        assert_eq!(too_many_users(&plan, [("0", 114, 50), ("1", 114, 50)]), [""; 0]);
        let found = too_many_users(&plan, [("0", 114, 49), ("1", 113, 50)]);
        let expected = [
            "load agent 0 may have 49 ports for each address of its own, and would have 50 connections",
            "load agent 1 may have 113 open files, and would have 50 connections",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn every_machine_has_loopback_addresses() {
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        assert!(!is_loopback("10.0.0.1") && !is_loopback("gen2"));
    }

    #[test]
    fn agents_that_cannot_be_used_are_all_named() {
        let error = |agent: &str, problem| ConnectError { agent: agent.to_owned(), problem };
        let failure = connect_failure(&[
            error("0 on `me@gen1`", ConnectProblem::NoProgram),
            error("1 on `me@gen2`", ConnectProblem::Silent),
        ]);
        let text = failure.message();
        assert!(text.contains("load agent 0 on `me@gen1`: there is no `plimsoll`"), "{text}");
        assert!(text.contains("load agent 1 on `me@gen2`: no answer within 15 s"), "{text}");
    }
}
