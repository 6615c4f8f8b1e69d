//! The testbed as the run file describes it before the first second.

use languages::{foreign_text, without_credentials};
use model::{AgentPlan, CertificateCheck, Fact, FactSection, Load, Plan, Privacy, Testbed, agent_title};
use observe::{
    InventoryInput, Redactor, RemoteGroupSize, format_cpu_list, inventory, open_files_max, redactor,
    unknown_server,
};
use testbed::RunningSut;

use crate::agent_link::ConnectedAgent;
use crate::family::ResolvedTarget;
use crate::request::{LoadMachines, RunRequest};
use crate::watch::Watchers;

/// The description of the testbed, without names of persons and machines unless they are wanted.
pub(crate) struct TestbedDisclosure {
    pub(crate) command_line: String,
    pub(crate) testbed: Testbed,
}

/// Collects everything that is disclosed: server, the session that it agreed to, tuning, machine, what the operator says.
pub(crate) fn disclosed(
    request: &RunRequest<'_>,
    sut: Option<&RunningSut>,
    plan: &Plan,
    (target, session): (&ResolvedTarget, Option<FactSection>),
    watchers: &Watchers,
) -> TestbedDisclosure {
    let asked = asked(request, sut, target);
    let mut redactor = redactor(&asked);
    if let Some(host) = target.host() {
        redactor = redactor.and(host, "server");
    }
    if let Some(host) = target.connect_host() {
        redactor = redactor.and(host, "server");
    }
    if let LoadMachines::Agents(fleet) = &request.load {
        for account in fleet.agents().iter().filter_map(|agent| agent.account.as_ref()) {
            redactor = redactor.and(account.as_str(), "load machine").and(account.host(), "load machine");
        }
    }
    let mut sections = match (sut, target.in_process()) {
        (Some(sut), _) => sut.facts(),
        (None, Some(section)) => vec![section],
        (None, None) => vec![elsewhere(target, plan), unknown_server()],
    };
    sections.extend(session);
    sections.extend(watched(watchers));
    own_allowance(&mut sections, request, plan);
    sections.push(tuning(plan, sut, target));
    sections.extend(load_machines(request, plan));
    sections.iter_mut().for_each(|section| redact(section, &redactor));
    sections.extend(inventory(&asked));
    sections.iter_mut().for_each(FactSection::leave_out_credentials);
    request.notes.merge_into(&mut sections);
    let command_line = without_credentials(&redactor.text(&request.command_line));
    TestbedDisclosure { command_line, testbed: Testbed { sections } }
}

fn asked(request: &RunRequest<'_>, sut: Option<&RunningSut>, target: &ResolvedTarget) -> InventoryInput {
    InventoryInput {
        disclose_identity: request.disclose_identity,
        server: target.address().map(|address| address.ip()),
        files: match target.directory() {
            Some(directory) => Some(directory.to_owned()),
            None => sut.map(|_| request.files_dir.clone()),
        },
        work: sut.map(|_| request.work_dir.clone()),
        run_file: std::path::absolute(request.run_file).ok(),
    }
}

fn redact(section: &mut FactSection, redactor: &Redactor) {
    for fact in &mut section.facts {
        *fact = redactor.fact(fact.clone(), Privacy::Text);
    }
}

/// Says how much CPU time a server keeps itself to, of which the kernel knows nothing.
fn own_allowance(sections: &mut [FactSection], request: &RunRequest<'_>, plan: &Plan) {
    let Some(quota) = plan.sut.quota.filter(|_| request.server.limits_itself()) else { return };
    let facts = sections.iter_mut().filter(|section| section.title == "Server");
    for fact in facts.flat_map(|section| &mut section.facts).filter(|fact| fact.name == "CPU quota") {
        fact.value = format!("{quota} CPUs, kept by the server itself; by the kernel {}", fact.value);
    }
}

fn elsewhere(target: &ResolvedTarget, plan: &Plan) -> FactSection {
    let mut section = FactSection::new(
        "System under test",
        [
            ("server", "not started by this run: nothing is known of its configuration".to_owned()),
            ("target", target.name()),
            ("address", place(target)),
        ],
    );
    if target.shows_identity() {
        let value = "shown to the server (`--cert`); its key is in no file of this run";
        section.facts.push(Fact::found("client certificate", value).from("set by this run"));
    }
    if target.is_encrypted() {
        let certificate = match &plan.sut.certificates {
            CertificateCheck::System => {
                "verified: name, dates, and an authority that the load machine trusts"
            }
            CertificateCheck::File(_) => "verified: name, dates, and an authority given with `--ca`",
            CertificateCheck::Off => "not verified (`--insecure`): any certificate was accepted",
        };
        section.facts.push(Fact::found("certificate", certificate).from("set by this run"));
    }
    section
}

/// Returns where connections go.
fn place(target: &ResolvedTarget) -> String {
    match (target.address(), target.socket()) {
        (Some(address), _) => address.to_string(),
        (None, Some(path)) => format!("Unix socket {}", path.display()),
        (None, None) => "none".to_owned(),
    }
}

/// Says which processes are watched that were there already, and which conclusions cannot be drawn about them.
fn watched(watchers: &Watchers) -> Option<FactSection> {
    let mut facts: Vec<Fact> = Vec::new();
    if let Some(unseen) = &watchers.unseen {
        let reason = format!("{unseen}\nIts CPU time, threads, files and queues are not known.");
        facts.push(Fact::found("server", &reason));
    }
    for group in watchers.targets.describe() {
        let label = &group.label;
        facts.push(Fact::found(label, &group.to_string()).from("/proc"));
        if !group.control_groups.is_empty() {
            facts.push(Fact::found(&format!("{label}, control groups"), &group.control_groups.join("\n")));
        }
        facts.extend(
            group.limits.iter().map(|limit| {
                Fact::found(&format!("{label}, limit in force: {}", limit.resource), &limit.value)
            }),
        );
        if group.is_in_other_network {
            facts.push(Fact::found(&format!("{label}, network"), "a network namespace of its own"));
        }
        let unseen = group.unseen.iter();
        facts.extend(
            unseen.map(|one| Fact::found(&format!("{label}, not seen: {}", one.name()), one.rules_out())),
        );
    }
    for watcher in &watchers.all {
        let there = watcher.groups_there().into_iter();
        facts.extend(there.map(|group| {
            // Machines are not named unless that is wanted.
            let name = format!("{} on another machine", foreign_text(&group.label));
            Fact::found(&name, &size_text(&group)).from("ssh")
        }));
    }
    let title = "Watched processes".to_owned();
    (!facts.is_empty()).then_some(FactSection { title, facts })
}

/// Says how many processes there are, and how many are counted if not all are.
fn size_text(group: &RemoteGroupSize) -> String {
    let processes = if group.processes == 1 { "process" } else { "processes" };
    if group.read == group.processes {
        format!("{} {processes}", group.processes)
    } else {
        format!("{} {processes}, {} of which are counted", group.processes, group.read)
    }
}

/// Describes the processes that perform the load and their machines, a section each; none where it is this process.
fn load_machines(request: &RunRequest<'_>, plan: &Plan) -> Vec<FactSection> {
    let LoadMachines::Agents(fleet) = &request.load else { return Vec::new() };
    let load = plan.load_max().unwrap_or(Load::Users(0));
    let agents = fleet.agents().iter().zip(&plan.agents).enumerate();
    let section = |(index, (agent, of_plan)): (usize, (&ConnectedAgent, &AgentPlan))| {
        let machine = match (agent.machine, request.disclose_identity) {
            (0, _) => "this machine".to_owned(),
            (machine, true) => format!("machine {machine} ({})", agent.name),
            (machine, false) => format!("machine {machine}"),
        };
        let cpus = match of_plan.cpus.as_slice() {
            [] => "not pinned".to_owned(),
            cpus => format!("pinned to CPUs {}", format_cpu_list(cpus)),
        };
        let set = |name: &str, value: String| Fact::found(name, &value).from("set by this run");
        let said = |name: &str, value: &str| Fact::found(name, value).from("the load agent");
        let mut facts = vec![
            set("machine", machine),
            set("load threads", of_plan.threads.to_string()),
            set("CPUs of load threads", cpus),
            set("users", plan.users_of_agent(index, load).to_string()),
            said("CPUs available", &agent.hello.cpus.to_string()),
        ];
        facts.extend(agent.hello.told().map(|(name, value)| {
            let value = without_credentials(&foreign_text(value));
            said(name, &value)
        }));
        FactSection { title: agent_title(index), facts }
    };
    agents.map(section).collect()
}

/// Says what this run changed on the machine, and what it left alone.
fn tuning(plan: &Plan, sut: Option<&RunningSut>, target: &ResolvedTarget) -> FactSection {
    let fact = |name: &str, value: &str| Fact::found(name, value).from("set by this run");
    let pinned = match plan.load_cpus().as_slice() {
        [] => "not pinned".to_owned(),
        cpus => format!("one thread pinned to each of CPUs {}", format_cpu_list(cpus)),
    };
    // Else pages that somebody else paid for would cost the server nothing.
    let is_memory_held = plan.workload.web().is_some() && sut.is_some_and(|sut| sut.held().memory.is_some());
    let cache = if is_memory_held {
        "emptied of the file set before each load point"
    } else {
        target.cache(plan).text()
    };
    let mut facts = vec![
        fact("load threads", &format!("{}, {pinned}", plan.load_threads())),
        fact("open files", &format!("soft limit raised to the hard one: up to {}", open_files_max())),
        fact("kernel settings", "none changed"),
        fact("services of the machine", "none stopped"),
        fact("page cache", cache),
    ];
    if sut.is_some() {
        facts.push(fact("server", "its CPUs, quota and limits stand in its own section"));
    }
    FactSection { title: "Tuning by this run".to_owned(), facts }
}

#[cfg(test)]
mod tests {
    use model::FactState;
    use testkit::{closed_plan, phases};

    use super::*;
    use crate::family::WebTarget;

    #[test]
    fn processes_that_are_not_counted_are_told() {
        let text =
            |processes, read| size_text(&RemoteGroupSize { label: "port=80".to_owned(), processes, read });
        assert_eq!([text(1, 1), text(3, 3)], ["1 process", "3 processes"]);
        assert_eq!(text(80, 64), "80 processes, 64 of which are counted");
    }

    #[test]
    fn what_names_a_machine_is_left_out_of_what_is_said_about_a_server_elsewhere() {
        let target = ResolvedTarget::of(WebTarget {
            target: "http://10.1.2.3:8080/".parse().unwrap(),
            address: "10.1.2.3:8080".parse().unwrap(),
            trust: drivers::Trust::Any,
            secrets: model::Secrets::default(),
        });
        let plan = closed_plan(1, &[1], phases(0, 1));
        let mut section = elsewhere(&target, &plan);
        redact(&mut section, &redactor(&InventoryInput::default()));
        for fact in &section.facts[1..] {
            assert!(!fact.value.contains("10.1.2.3") && fact.value.contains(":8080"), "{fact:?}");
            assert_eq!(fact.state, FactState::Redacted);
        }
        let mut open = elsewhere(&target, &plan);
        redact(
            &mut open,
            &redactor(&InventoryInput { disclose_identity: true, ..InventoryInput::default() }),
        );
        assert_eq!(open, elsewhere(&target, &plan));
    }
}
