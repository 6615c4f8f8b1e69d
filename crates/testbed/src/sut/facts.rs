//! What is disclosed about the system under test.

use model::{Fact, FactSection};
use units::Bytes;

use super::member::Member;
use super::running::RunningSut;
use crate::affinity::{available_cpus, format_cpu_list};
use crate::cgroup::{Controller, memory_text};
use crate::recipe::Reset;

/// Returns the sections about the server: how it runs, what runs beside it, and all their configuration.
pub fn sections(sut: &RunningSut) -> Vec<FactSection> {
    let server = &sut.server;
    let mut facts = vec![
        fact("server", &sut.recipe.title),
        fact("version", server.version.as_deref().unwrap_or("not told")),
        fact("command line", &server.launch.command_line()),
        fact("user", &sut.values.user),
        fact("address", &sut.url()),
        fact("transport", sut.choice.transport.title()),
        fact("profile", &sut.choice.profile),
        fact("processors", &cpus(sut)),
        fact("CPU quota", &quota(sut)),
        fact("CPU time known from", sut.meter.description()),
        fact("between load points", reset(sut.recipe.reset)),
    ];
    facts.extend(
        sut.asked.memory.map(|bytes| limit(sut, "memory limit", &memory_text(bytes), Controller::Memory)),
    );
    facts.extend(
        sut.asked.disk.as_ref().map(|disk| limit(sut, "disk limit", &disk.to_string(), Controller::Blkio)),
    );
    if let Some(populated) = &sut.populated {
        let size =
            format!("{} files, {} bytes ({})", populated.files, populated.bytes, Bytes(populated.bytes));
        facts.push(fact("file set", &size));
        facts.push(fact("file set in", &populated.directory.to_string_lossy()));
    }
    facts.extend(environment(server));
    facts.extend(sut.choice.settings.iter().map(|(name, value)| fact(name, &sut.values.fill(value))));
    let mut sections = vec![FactSection { title: "Server".into(), facts }];
    sections.extend(configuration(server, "Server configuration"));
    sections.extend(gateway(sut));
    for (companion, _) in &sut.companions {
        sections.extend(configuration(companion, &format!("{} configuration", companion.title)));
    }
    sections
}

/// Returns the section about how pages are made by a program.
fn gateway(sut: &RunningSut) -> Option<FactSection> {
    let (asked, _) = sut.choice.gateway.as_ref()?;
    let mut facts =
        vec![fact("kind", asked.kind.name()), fact("workers asked for", &asked.workers.to_string())];
    for (companion, _) in &sut.companions {
        facts.push(fact("program", &companion.title));
        facts.push(fact("version", companion.version.as_deref().unwrap_or("not told")));
        facts.push(fact("command line", &companion.launch.command_line()));
        facts.extend(environment(companion));
    }
    Some(FactSection { title: "Gateway".into(), facts })
}

fn environment(member: &Member) -> impl Iterator<Item = Fact> {
    let variables = member.launch.environment.iter();
    variables.map(|(name, value)| fact(&format!("environment variable {name}"), value))
}

fn configuration(member: &Member, title: &str) -> Option<FactSection> {
    let (file, text) = member.config.as_ref()?;
    Some(FactSection { title: title.to_owned(), facts: vec![fact(file, text)] })
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.to_owned(), value: value.to_owned() }
}

fn cpus(sut: &RunningSut) -> String {
    let cpus = format_cpu_list(&sut.asked.cpus);
    match &sut.group {
        _ if cpus.is_empty() => format!("{} (all)", format_cpu_list(&available_cpus())),
        Ok(group) if !group.held().cpus.is_empty() => {
            format!("{cpus} (pinned, and {})", group.holding(Controller::Cpuset))
        }
        _ => format!("{cpus} (pinned)"),
    }
}

/// Returns a limit that was asked for, by what it is held, or why it is not.
fn limit(sut: &RunningSut, name: &str, asked: &str, controller: Controller) -> Fact {
    let holding = match &sut.group {
        Ok(group) => group.holding(controller),
        Err(why) => format!("not held: {why}"),
    };
    fact(name, &format!("{asked}, {holding}"))
}

/// Returns how much CPU time the server may use, by what it is held to that, or why it is not.
fn quota(sut: &RunningSut) -> String {
    match (&sut.group, sut.asked.quota) {
        (Ok(group), _) => group.quota_text(),
        (Err(why), None) => format!("none; no control group: {why}"),
        (Err(why), Some(asked)) => format!("{asked} CPUs asked for, not held: {why}"),
    }
}

fn reset(reset: Reset) -> &'static str {
    match reset {
        Reset::None => "goes on running",
        Reset::Restart => "is started again",
    }
}
