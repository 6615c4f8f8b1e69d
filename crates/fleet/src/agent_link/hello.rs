//! The description that a load agent gives of itself and its machine.

use model::Fact;
use observe::{InventoryInput, available_cpus, inventory, open_files_max, port_range};

use super::message::AgentHello;

/// The facts that are told, each by the title of its section in the inventory, its name there, and its name here.
const TOLD: &[(&str, &str, &str)] = &[
    ("Processor", "model", "processor"),
    ("Memory", "memory", "memory"),
    ("System", "kernel", "kernel"),
    ("System", "architecture", "architecture"),
    ("Network interfaces", "speed", "network"),
];

impl AgentHello {
    /// Returns the facts that are known by name, and no others, whatever an agent says.
    pub(crate) fn told(&self) -> impl Iterator<Item = (&'static str, &str)> {
        TOLD.iter().filter_map(|(_, _, name)| Some((*name, self.facts.get(*name)?.as_str())))
    }
}

/// Returns what this process says of itself.
pub(crate) fn own_hello(program: &str, build: &str) -> AgentHello {
    let sections = inventory(&InventoryInput::default());
    let found = |title: &str, name: &str| -> Option<String> {
        let sections = sections.iter().filter(|section| section.title.ends_with(title));
        let mut facts = sections.flat_map(|section| &section.facts);
        facts.find(|fact: &&Fact| fact.name == name && !fact.value.is_empty()).map(|fact| fact.value.clone())
    };
    let told = TOLD.iter().filter_map(|(title, name, here)| Some(((*here).to_owned(), found(title, name)?)));
    AgentHello {
        program: program.to_owned(),
        build: build.to_owned(),
        cpus: u32::try_from(available_cpus().len()).unwrap_or(u32::MAX),
        open_files_max: open_files_max(),
        ports: port_range().map_or(u32::from(u16::MAX), n_ports),
        facts: told.collect(),
    }
}

/// Returns the number of ports of a range, of which both ends are parts.
fn n_ports((first, last): (u16, u16)) -> u32 {
    (u32::from(last) + 1).saturating_sub(first.into())
}

/// Names a program with its build.
pub(crate) fn program_text((program, build): &(String, String)) -> String {
    format!("{program} (build {build})")
}
