//! What a load agent says of itself and its machine.

use model::Fact;
use observe::{InventoryInput, available_cpus, inventory, open_files_max};

use super::message::AgentHello;

/// The facts that are told, each by the title of its section in the inventory, its name there, and its name here.
const TOLD: &[(&str, &str, &str)] = &[
    ("Processor", "model", "processor"),
    ("Memory", "memory", "memory"),
    ("System", "kernel", "kernel"),
    ("System", "architecture", "architecture"),
    ("Network interfaces", "speed", "network"),
];

/// Returns what this process says of itself.
pub(super) fn own_hello(program: &str, build: &str) -> AgentHello {
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
        facts: told.collect(),
    }
}
