//! The catalogue of the fields of a testbed, one line each, so that a missing fact can be named too.
//!
//! An id is a group, which is a section of the report, a dot, and a key: the path of the field in an operator's notes.
//!
//! - `hardware`: machine, processor, memory, disks, network
//! - `software`: operating system, limits, server, and fields that only an operator can fill

mod hardware;
mod software;

/// A field of a testbed's description.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Group and key: `processor.model`.
    pub id: &'static str,
    /// The name in the report. In fields of disks and other instances the instance's name precedes it; such a field
    /// with an empty name is called by the instance's name alone.
    pub name: &'static str,
    /// The source: files, with `{}` for the instance's name; [`Field::NOTES`] if only an operator can fill it.
    pub source: &'static str,
    /// The part of the value that is hidden by default.
    pub privacy: Privacy,
}

/// The part of a value that could identify a person, a machine or a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// No part.
    Open,
    /// Names and addresses that it may contain.
    Text,
    /// All of it: a serial number.
    Whole(&'static str),
}

impl Field {
    /// The source of the fields that only an operator can fill.
    pub const NOTES: &str = "notes";

    /// Returns all fields in the order of the report.
    pub fn all() -> impl Iterator<Item = &'static Field> {
        [hardware::FIELDS, software::FIELDS].into_iter().flatten()
    }

    /// Returns the groups, each with the title of its section, in the order of the report.
    pub fn groups() -> &'static [(&'static str, &'static str)] {
        GROUPS
    }

    /// Returns whether a group describes a machine, not the run or its server.
    pub fn is_of_machine(group: &str) -> bool {
        !["test", "price", "server"].contains(&group)
    }

    /// Returns the field with an id.
    pub fn of(id: &str) -> Option<&'static Field> {
        Field::all().find(|field| field.id == id)
    }

    /// Returns group and key.
    pub fn path(&self) -> (&'static str, &'static str) {
        self.id.split_once('.').unwrap_or(("", self.id))
    }

    /// Returns the title of its section.
    pub fn section(&self) -> &'static str {
        let (group, _) = self.path();
        GROUPS.iter().find(|(name, _)| *name == group).map_or("Other", |(_, title)| title)
    }

    /// Returns the name in the report, with the name of the instance, if any.
    pub fn name_of(&self, instance: Option<&str>) -> String {
        match instance {
            None if self.name.is_empty() => self.path().1.to_owned(),
            None => self.name.to_owned(),
            Some(instance) if self.name.is_empty() => instance.to_owned(),
            Some(instance) => format!("{instance}: {}", self.name),
        }
    }

    /// Returns the source, with the name of the instance, if any.
    pub fn source_of(&self, instance: Option<&str>) -> String {
        self.source.replace("{}", instance.unwrap_or("*"))
    }

    const fn private(self, privacy: Privacy) -> Field {
        Field { privacy, ..self }
    }
}

const fn field(id: &'static str, name: &'static str, source: &'static str) -> Field {
    Field { id, name, source, privacy: Privacy::Open }
}

/// Makes a field that only an operator can fill.
const fn told(id: &'static str, name: &'static str) -> Field {
    field(id, name, Field::NOTES)
}

const SERIAL: Privacy = Privacy::Whole("serial number");
const UUID: Privacy = Privacy::Whole("UUID");
const HOST: Privacy = Privacy::Whole("host name");

/// The groups in the order of the report, with the titles of their sections.
const GROUPS: &[(&str, &str)] = &[
    ("test", "The test"),
    ("price", "Price"),
    ("server", "Server"),
    ("machine", "Machine"),
    ("firmware", "Firmware"),
    ("processor", "Processor"),
    ("mitigation", "Processor vulnerabilities"),
    ("numa", "NUMA"),
    ("memory", "Memory"),
    ("disk", "Disks"),
    ("storage", "Storage"),
    ("controller", "Controllers"),
    ("nic", "Network interfaces"),
    ("network", "Network"),
    ("filesystem", "File systems"),
    ("system", "System"),
    ("software", "Software"),
    ("limit", "Limits of processes"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_catalogue_has_more_than_a_hundred_and_twenty_fields() {
        let read = Field::all().filter(|field| field.source != Field::NOTES).count();
        assert!(120 <= read, "{read} are looked for");
        assert!(read < Field::all().count(), "some can only be told");
    }

    #[test]
    fn ids_and_names_are_unique_and_every_group_has_a_section() {
        let mut ids = BTreeSet::new();
        let mut names = BTreeSet::new();
        for field in Field::all() {
            assert!(ids.insert(field.id), "{}", field.id);
            assert!(names.insert((field.section(), field.name)), "{}", field.id);
            assert_ne!(field.section(), "Other", "{}", field.id);
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let (group, key) = field.path();
            assert!(
                !key.is_empty() && key.chars().all(is_plain) && group.chars().all(is_plain),
                "{}",
                field.id
            );
            assert!(!field.source.is_empty(), "{}", field.id);
        }
        let used: BTreeSet<&str> = Field::all().map(|field| field.path().0).collect();
        assert!(Field::groups().iter().all(|(group, _)| used.contains(group)), "a section without fields");
    }

    #[test]
    fn fields_of_a_group_are_adjacent() {
        let mut seen: Vec<&str> = Vec::new();
        for field in Field::all() {
            let (group, _) = field.path();
            if seen.last() != Some(&group) {
                assert!(!seen.contains(&group), "{} is apart from its group", field.id);
                seen.push(group);
            }
        }
    }

    #[test]
    fn names_of_instances_precede_the_field() {
        let scheduler = Field::of("disk.scheduler").unwrap();
        assert_eq!(scheduler.name_of(Some("vda")), "vda: scheduler");
        assert_eq!(scheduler.source_of(Some("vda")), "/sys/block/vda/queue/scheduler");
        assert_eq!(scheduler.source_of(None), "/sys/block/*/queue/scheduler");
        assert_eq!(Field::of("mitigation.state").unwrap().name_of(Some("meltdown")), "meltdown");
        assert_eq!(Field::of("nothing"), None);
    }
}
