//! What is disclosed about the system under test.

use model::{Fact, FactSection};
use units::Bytes;

use super::running::RunningSut;
use crate::affinity::{available_cpus, format_cpu_list};
use crate::recipe::Reset;

/// Returns the sections about the server: how it runs, and its whole configuration.
pub fn sections(sut: &RunningSut) -> Vec<FactSection> {
    let mut facts = vec![
        fact("server", &sut.recipe.title),
        fact("version", sut.version.as_deref().unwrap_or("not told")),
        fact("command line", &sut.launch.command_line()),
        fact("user", &sut.values.user),
        fact("address", &sut.url()),
        fact("processors", &cpus(&sut.launch.cpus)),
        fact("CPU quota", &quota(sut)),
        fact("CPU time known from", sut.meter.description()),
        fact("between load points", reset(sut.recipe.reset)),
    ];
    if let Some(populated) = &sut.populated {
        let size =
            format!("{} files, {} bytes ({})", populated.files, populated.bytes, Bytes(populated.bytes));
        facts.push(fact("file set", &size));
        facts.push(fact("file set in", &populated.directory.to_string_lossy()));
    }
    facts.extend(sut.recipe.settings.iter().map(|(name, value)| fact(name, &sut.values.fill(value))));
    let mut sections = vec![FactSection { title: "Server".into(), facts }];
    if let Some(config) = &sut.recipe.config {
        let text = vec![fact(&config.file, &sut.config_text)];
        sections.push(FactSection { title: "Server configuration".into(), facts: text });
    }
    sections
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.to_owned(), value: value.to_owned() }
}

fn cpus(cpus: &[u32]) -> String {
    match cpus {
        [] => format!("{} (all)", format_cpu_list(&available_cpus())),
        _ => format!("{} (pinned)", format_cpu_list(cpus)),
    }
}

/// Returns how much CPU time the server may use, by what it is held to that, or why it is not.
fn quota(sut: &RunningSut) -> String {
    match (&sut.group, sut.asked_quota) {
        (Ok(group), _) => group.description(),
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
