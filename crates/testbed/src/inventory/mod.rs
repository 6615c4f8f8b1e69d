//! The machine as found: hardware, operating system, network and settings that can move a result.
//!
//! One module per part; each returns a section, with what the machine does not tell left out.

mod kernel;
mod network;
mod processor;
mod system;

use model::{Fact, FactSection};

pub use kernel::{clock_source, port_range, sysctl};
pub use processor::{governors, model_name};
pub use system::{steal_ratio, user_name};

/// Returns everything found out about this machine, in the order of the report.
pub fn inventory() -> Vec<FactSection> {
    vec![processor::section(), system::section(), network::section(), kernel::section()]
}

/// Makes a section of the facts that are known.
fn section<'a>(title: &str, facts: impl IntoIterator<Item = (&'a str, Option<String>)>) -> FactSection {
    let known =
        facts.into_iter().filter_map(|(name, value)| Some(Fact { name: name.to_owned(), value: value? }));
    FactSection { title: title.to_owned(), facts: known.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_this_machine_says_something() {
        let sections = inventory();
        assert_eq!(sections.len(), 4);
        for section in &sections {
            assert!(!section.facts.is_empty(), "{}", section.title);
            assert!(section.facts.iter().all(|fact| !fact.value.is_empty()), "{section:?}");
        }
        let has =
            |name: &str| sections.iter().flat_map(|section| &section.facts).any(|fact| fact.name == name);
        for name in ["model", "logical processors", "memory", "kernel", "net.core.somaxconn", "open files"] {
            assert!(has(name), "{name}");
        }
    }
}
