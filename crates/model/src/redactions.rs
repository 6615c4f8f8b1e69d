//! Facts that an operator withholds: neither the value of such a field nor any other text with that value is disclosed.

use crate::testbed::{Fact, FactSection, FactState, LOAD_MACHINE};
use crate::{Field, Privacy};

/// The reason given for a fact that an operator withholds.
pub(crate) const WITHHELD: &str = "withheld by the operator";

/// The text that replaces a withheld value in other texts.
const LEFT_OUT: &str = "[withheld]";

/// The shortest value that is replaced in other texts; shorter ones occur there by chance.
const TELLING_BYTES_MIN: usize = 4;

/// Fields with the same text in their values: withholding one withholds the others.
const OF_SAME_TEXT: &[&[&str]] = &[
    &["system.command-line", "mitigation.command-line"],
    &["system.kernel", "system.build", "system.preemption"],
    &["system.init", "software.init-system"],
];

/// Sections with the same facts about programs that belong to the server.
const SERVER_SECTIONS: [&str; 3] = ["Server", "Accelerator", "Gateway"];

/// The suffix of the titles of sections with the texts of configurations.
const CONFIGURATION: &str = " configuration";

/// The fields that are withheld.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Redactions {
    fields: Vec<&'static Field>,
}

impl Redactions {
    /// Withholds these fields, and with each those that have the same text.
    pub(crate) fn of(asked: &[&'static Field]) -> Redactions {
        let ids: Vec<&str> = asked.iter().map(|field| field.id).collect();
        let is_asked = |id: &str| {
            let mut with_it = OF_SAME_TEXT.iter().filter(|same| same.contains(&id));
            ids.contains(&id) || with_it.any(|same| same.iter().any(|other| ids.contains(other)))
        };
        Redactions { fields: Field::all().filter(|field| is_asked(field.id)).collect() }
    }

    /// Removes the values from sections, and from other texts that contain them.
    pub(crate) fn take_from(&self, sections: &mut [FactSection]) {
        let mut values: Vec<String> = Vec::new();
        for section in &mut *sections {
            for fact in section.facts.iter_mut().filter(|fact| self.withholds(&section.title, fact)) {
                if fact.state != FactState::NotDisclosed && is_telling(&fact.value) {
                    values.push(fact.value.clone());
                }
                fact.value = WITHHELD.to_owned();
                fact.state = FactState::NotDisclosed;
            }
        }
        // Longer values first: replacing a part of another value would leave the rest of that value.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for section in sections {
            for fact in section.facts.iter_mut().filter(|fact| is_text(&section.title, fact)) {
                leave_out(fact, &values);
            }
        }
    }

    fn withholds(&self, title: &str, fact: &Fact) -> bool {
        self.fields.iter().any(|field| is_of(field, title, &fact.name))
    }
}

/// Returns whether a fact of this name in a section of this title is one of the field.
fn is_of(field: &Field, title: &str, name: &str) -> bool {
    let title = title.strip_prefix(LOAD_MACHINE).unwrap_or(title);
    let section = field.section();
    if field.id == "server.configuration" && title.ends_with(CONFIGURATION) {
        return true;
    }
    let is_here = title == section || [title, section].iter().all(|title| SERVER_SECTIONS.contains(title));
    let of_thing = name.split_once(": ").map_or(name, |(_, name)| name);
    is_here
        && match field.name {
            // The field has no name of its own: it covers all facts that no other field has.
            "" => !Field::all().any(|other| other.section() == section && other.name == of_thing),
            own => name == own || of_thing == own,
        }
}

/// Returns whether the value of a fact is free text, which may contain other values.
fn is_text(title: &str, fact: &Fact) -> bool {
    let is_free = |field: &Field| field.privacy == Privacy::Text && is_of(field, title, &fact.name);
    fact.state != FactState::NotDisclosed && Field::all().any(is_free)
}

fn is_telling(value: &str) -> bool {
    TELLING_BYTES_MIN <= value.len() && value.contains(char::is_alphabetic)
}

fn leave_out(fact: &mut Fact, values: &[String]) {
    for value in values {
        if fact.value.contains(value) {
            fact.value = fact.value.replace(value, LEFT_OUT);
            fact.state = FactState::Redacted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(title: &str, facts: &[(&str, &str)]) -> FactSection {
        let facts = facts.iter().map(|(name, value)| Fact::found(name, value)).collect();
        FactSection { title: title.to_owned(), facts }
    }

    fn sections() -> Vec<FactSection> {
        vec![
            section("Server", &[("version", "nginx/1.22.1"), ("command line", "nginx -g x")]),
            section("Accelerator", &[("command line", "varnishd -s y"), ("memory for copies", "1 MiB")]),
            section("Gateway", &[("command line", "php-fpm -y z"), ("workers asked for", "4")]),
            section("Server configuration", &[("nginx.conf", "worker_processes 1;\n")]),
            section(
                "Processor vulnerabilities",
                &[("set on the command line", "mitigations=auto"), ("meltdown", "Not affected")],
            ),
            section("Disks", &[("vda: model", "QEMU disk"), ("vda: size", "8 GiB")]),
            section(
                "Load machine: System",
                &[
                    ("kernel", "Linux 6.1.7-own #1 SMP PREEMPT"),
                    ("kernel build", "Linux version 6.1.7-own (me@home) #1 SMP PREEMPT"),
                    ("preemption", "PREEMPT"),
                    ("kernel command line", "quiet mitigations=auto init=/sbin/own_init"),
                    ("first process", "own_init"),
                ],
            ),
        ]
    }

    /// Returns what of the sections is not as it was, a line for each fact.
    fn changed(ids: &[&str]) -> String {
        let fields: Vec<&'static Field> = ids.iter().map(|id| Field::of(id).unwrap()).collect();
        let before = sections();
        let mut after = sections();
        Redactions::of(&fields).take_from(&mut after);
        let facts = |sections: Vec<FactSection>| {
            sections.into_iter().flat_map(|section| {
                section.facts.into_iter().map(move |fact| (section.title.clone(), fact)).collect::<Vec<_>>()
            })
        };
        let pairs = facts(before).zip(facts(after)).filter(|(before, after)| before != after);
        pairs.map(|(_, (title, fact))| format!("{title}: {}: {}\n", fact.name, fact.value)).collect()
    }

    #[test]
    fn a_field_is_withheld_with_all_fields_of_the_same_text() {
        insta::assert_snapshot!(changed(&["system.command-line"]), @r"
        Processor vulnerabilities: set on the command line: withheld by the operator
        Load machine: System: kernel command line: withheld by the operator
        ");
        insta::assert_snapshot!(changed(&["system.build"]), @r"
        Load machine: System: kernel: withheld by the operator
        Load machine: System: kernel build: withheld by the operator
        Load machine: System: preemption: withheld by the operator
        ");
        insta::assert_snapshot!(changed(&["server.command-line", "server.configuration"]), @r"
        Server: command line: withheld by the operator
        Accelerator: command line: withheld by the operator
        Gateway: command line: withheld by the operator
        Server configuration: nginx.conf: withheld by the operator
        ");
    }

    #[test]
    fn a_withheld_value_is_removed_from_other_texts() {
        insta::assert_snapshot!(changed(&["system.init"]), @r"
        Load machine: System: kernel command line: quiet mitigations=auto init=/sbin/[withheld]
        Load machine: System: first process: withheld by the operator
        ");
    }

    #[test]
    fn of_two_overlapping_values_the_longer_is_removed_whole() {
        let system =
            [("first process", "systemd"), ("kernel command line", "quiet init=/bin/systemd 252.38")];
        let mut all = [section("System", &system), section("Software", &[("init system", "systemd 252.38")])];
        Redactions::of(&[Field::of("system.init").unwrap()]).take_from(&mut all);
        assert_eq!(all[0].facts[1].value, "quiet init=/bin/[withheld]");
    }

    #[test]
    fn a_field_is_withheld_for_every_instance() {
        assert_eq!(changed(&["disk.model"]), "Disks: vda: model: withheld by the operator\n");
        assert_eq!(
            changed(&["mitigation.state"]),
            "Processor vulnerabilities: meltdown: withheld by the operator\n"
        );
    }

    #[test]
    fn withheld_facts_say_so_whether_found_or_not() {
        let mut one = [section("System", &[("first process", "init")])];
        one[0].facts[0].state = FactState::NotDisclosed;
        Redactions::of(&[Field::of("system.init").unwrap()]).take_from(&mut one);
        assert_eq!(one[0].missing(), [(WITHHELD, vec!["first process"])]);
    }

    #[test]
    fn fields_of_the_same_text_are_fields() {
        assert!(OF_SAME_TEXT.iter().copied().flatten().all(|id| Field::of(id).is_some()));
    }
}
