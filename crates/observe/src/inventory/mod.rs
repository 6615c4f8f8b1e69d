//! The inventory of a machine: every field of the catalogue (`model::Field`), with its source, or the reason
//! why it is unavailable.
//!
//! Each module reads the fields of some groups: a table of ids and functions. All of them read through
//! `machine_files`, so that a directory of files can stand in for a machine.
//!
//! - `machine_files`: reading; `redact`: removal of identifying text
//! - `dmi`, `smbios`: machine, firmware, memory modules
//! - `processor`, `memory`, `disks`, `controllers`, `interfaces`, `offloads`, `route`: hardware and network
//! - `system`, `limits`, `packages`, `kernel`: software and its settings

mod controllers;
mod disks;
mod dmi;
mod interfaces;
mod kernel;
mod limits;
mod machine_files;
mod memory;
mod offloads;
mod packages;
mod processor;
mod redact;
mod route;
mod smbios;
mod system;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use model::{Fact, FactSection, FactState, Field, LOAD_MACHINE};

pub use kernel::port_range;
pub(crate) use kernel::{clock_source, sysctl};
pub(crate) use processor::governors;
pub use processor::model_name;
pub use redact::Redactor;
pub(crate) use route::{interface_in, interface_to, own_addresses};
pub(crate) use system::{name_of_user, steal_ratio};
pub use system::{named_user, user_name};

pub use machine_files::Unavailable;
use machine_files::{FieldValue, MachineFiles};

/// The inputs of an inventory besides the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InventoryInput {
    /// Whether serial numbers, names and addresses are shown.
    pub disclose_identity: bool,
    /// Address of the server; `None` if there is none to reach.
    pub server: Option<IpAddr>,
    /// Directory of the server's files.
    pub files: Option<PathBuf>,
    /// Working directory of a server started by the run.
    pub work: Option<PathBuf>,
    /// The run file.
    pub run_file: Option<PathBuf>,
}

/// A function that reads one field.
struct FieldReader {
    id: &'static str,
    read: ReadField,
}

enum ReadField {
    /// Reads a field of the machine.
    One(fn(&MachineFiles) -> FieldValue),
    /// Reads a field of one of the group's instances, by its name.
    Each(fn(&MachineFiles, &str) -> FieldValue),
}

const fn one(id: &'static str, read: fn(&MachineFiles) -> FieldValue) -> FieldReader {
    FieldReader { id, read: ReadField::One(read) }
}

const fn each(id: &'static str, read: fn(&MachineFiles, &str) -> FieldValue) -> FieldReader {
    FieldReader { id, read: ReadField::Each(read) }
}

const READERS: &[&[FieldReader]] = &[
    dmi::READERS,
    processor::READERS,
    memory::READERS,
    disks::READERS,
    controllers::READERS,
    interfaces::READERS,
    route::READERS,
    system::READERS,
    packages::READERS,
    limits::READERS,
];

/// Finds the instances of a group by name.
type FindInstances = fn(&MachineFiles) -> Vec<String>;

/// Groups that describe several instances, and the functions that find these.
const INSTANCES: &[(&str, FindInstances)] = &[
    ("mitigation", processor::vulnerabilities),
    ("numa", memory::nodes),
    ("disk", disks::disks),
    ("nic", interfaces::interfaces),
];

/// The group that is known only for a server started by this program.
const SERVER: &str = "server";

/// The kernel's text for a processor bug that is absent.
const NOT_AFFECTED: &str = "Not affected";

/// Returns all facts about this machine, in the order of the report. Facts that only an operator knows are
/// included as not disclosed.
///
/// If the server is on another machine, that machine's fields come first, as not disclosed, and the titles of
/// this machine's sections identify it as the load machine.
pub fn inventory(input: &InventoryInput) -> Vec<FactSection> {
    inventory_of(&MachineFiles::of_this_machine(input))
}

/// Returns the fields of a server that this run did not start, all as not disclosed.
pub fn unknown_server() -> FactSection {
    let title = groups(|group| group == SERVER).map(|(_, title)| title.to_owned()).collect();
    let why = || Err(Unavailable::because("this run did not start the server"));
    FactSection { title, facts: fields(SERVER).map(|field| fact(field, None, why())).collect() }
}

fn inventory_of(files: &MachineFiles) -> Vec<FactSection> {
    if route::leads_here(files) {
        return sections(files, |group| group != SERVER);
    }
    let mut found = sections(files, Field::is_of_machine);
    found.iter_mut().for_each(|section| section.title.insert_str(0, LOAD_MACHINE));
    let mut all: Vec<FactSection> = groups(|group| group != SERVER).map(unknown_section).collect();
    all.append(&mut found);
    all
}

/// Returns name and version of the package that a program belongs to.
///
/// # Errors
/// The package is unknown.
pub fn package_of(program: &Path) -> Result<String, Unavailable> {
    packages::package_of(&MachineFiles::of_this_machine(&InventoryInput::default()), program)
}

/// Returns a redactor for names of this machine and its users.
pub fn redactor(input: &InventoryInput) -> Redactor {
    Redactor::of(&MachineFiles::of_this_machine(input))
}

/// Returns the groups of the catalogue with the titles of their sections.
fn groups(is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    Field::groups().iter().copied().filter(move |(group, _)| is_wanted(group))
}

fn fields(group: &'static str) -> impl Iterator<Item = &'static Field> {
    Field::all().filter(move |field| field.path().0 == group)
}

fn unknown_section((group, title): (&'static str, &'static str)) -> FactSection {
    let why = |field: &Field| match field.source {
        Field::NOTES => OPERATOR_ONLY,
        _ => Unavailable::because("the server is on another machine, which was not examined"),
    };
    let facts = fields(group).map(|field| fact(field, None, Err(why(field)))).collect();
    FactSection { title: title.to_owned(), facts }
}

const OPERATOR_ONLY: Unavailable =
    Unavailable::Because(std::borrow::Cow::Borrowed("known only to an operator"));

fn sections(files: &MachineFiles, is_wanted: impl Fn(&str) -> bool) -> Vec<FactSection> {
    let redactor = Redactor::of(files);
    let mut sections: Vec<FactSection> = groups(is_wanted)
        .map(|(group, title)| FactSection { title: title.to_owned(), facts: facts(files, group, &redactor) })
        .collect();
    sections.push(kernel::section(files));
    sections
}

/// Reads a group: fields of the machine first, then those of each instance.
fn facts(files: &MachineFiles, group: &'static str, redactor: &Redactor) -> Vec<Fact> {
    let shown = |field: &'static Field, instance: Option<&str>, found: FieldValue| {
        redactor.fact(fact(field, instance, found), field.privacy)
    };
    let mut facts = Vec::new();
    let mut of_things = Vec::new();
    for field in fields(group) {
        match reader(field.id) {
            Some(ReadField::One(read)) => facts.push(shown(field, None, read(files))),
            Some(ReadField::Each(read)) => of_things.push((field, *read)),
            None => facts.push(shown(field, None, Err(OPERATOR_ONLY))),
        }
    }
    let instances = INSTANCES.iter().find(|(name, _)| *name == group).map(|(_, find)| find(files));
    let instances = instances.unwrap_or_default();
    if instances.is_empty() {
        let none = || Err(Unavailable::because("none found"));
        facts.extend(of_things.iter().map(|(field, _)| shown(field, None, none())));
    }
    for instance in &instances {
        facts.extend(
            of_things.iter().map(|(field, read)| shown(field, Some(instance), read(files, instance))),
        );
    }
    facts
}

fn reader(id: &str) -> Option<&'static ReadField> {
    READERS.iter().copied().flatten().find(|reader| reader.id == id).map(|reader| &reader.read)
}

fn fact(field: &Field, instance: Option<&str>, found: FieldValue) -> Fact {
    let (value, state) = match found {
        Ok(value) if value == NOT_AFFECTED => (value, FactState::Usual),
        Ok(value) => (value, FactState::Found),
        Err(why) => (why.to_string(), FactState::NotDisclosed),
    };
    Fact { name: field.name_of(instance), value, source: field.source_of(instance), state }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::{Clock, Nanos, RealClock};

    use super::machine_files::testing;
    use super::*;

    #[test]
    fn every_field_not_reserved_for_operators_has_one_reader() {
        let mut ids = BTreeSet::new();
        for reader in READERS.iter().copied().flatten() {
            assert!(ids.insert(reader.id), "{} is read twice", reader.id);
            let (group, _) = Field::of(reader.id).unwrap_or_else(|| panic!("no field {}", reader.id)).path();
            let has_things = INSTANCES.iter().any(|(name, _)| *name == group);
            assert!(has_things || matches!(reader.read, ReadField::One(_)), "{}", reader.id);
        }
        for field in Field::all() {
            assert_eq!(ids.contains(field.id), field.source != Field::NOTES, "{}", field.id);
        }
    }

    /// Goal: an ordinary Linux machine yields more than 120 facts, each with a source, quickly.
    #[test]
    fn this_machine_yields_many_facts_quickly() {
        let clock = RealClock::start();
        let sections = inventory(&InventoryInput::default());
        assert!(clock.now() < Nanos::from_secs(2), "{} for all", clock.now());
        let facts: Vec<&Fact> = sections.iter().flat_map(|section| &section.facts).collect();
        let found = facts.iter().filter(|fact| fact.state != FactState::NotDisclosed).count();
        let settings = sections.last().unwrap().facts.len();
        assert!(80 + settings / 2 <= found, "{found} found");
        assert!(
            facts
                .iter()
                .all(|fact| !fact.name.is_empty() && !fact.value.is_empty() && !fact.source.is_empty())
        );
        let value = |title: &str, name: &str| {
            let section = sections.iter().find(|section| section.title == title).unwrap();
            section.facts.iter().find(|fact| fact.name == name).unwrap()
        };
        assert!(value("System", "kernel").value.starts_with("Linux "));
        assert!(value("Memory", "memory").value.ends_with("iB"));
        assert_eq!(value("Network interfaces", "lo: MTU").state, FactState::Found);
        assert_eq!(value("The test", "operator").state, FactState::NotDisclosed);
    }

    #[test]
    fn names_are_unique_within_a_section() {
        for section in inventory(&InventoryInput::default()) {
            let names: BTreeSet<&String> = section.facts.iter().map(|fact| &fact.name).collect();
            assert_eq!(names.len(), section.facts.len(), "{section:?}");
        }
    }

    const FILES: &[(&str, &str)] = &[
        ("/proc/sys/kernel/hostname", "zeus\n"),
        ("/etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n"),
        ("/sys/class/dmi/id/product_serial", "ABC123\n"),
        ("/sys/class/dmi/id/product_uuid", "9b641ba9-4999-4ea8-9865-8ce8e1d92224\n"),
        ("/sys/class/net/eth0/address", "02:fc:00:00:00:01\n"),
        ("/sys/class/net/eth0/mtu", "1500\n"),
        ("/proc/net/fib_trie", "|-- 10.0.0.5\n   /32 host LOCAL\n|-- 127.0.0.1\n  /32 host LOCAL\n"),
        ("/proc/cmdline", "root=UUID=9b641ba9-4999-4ea8-9865-8ce8e1d92224 ip=10.0.0.5 quiet\n"),
        ("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\n"),
        ("/etc/passwd", "ada:x:1000:1000::/home/ada:/bin/sh\n"),
        ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
    ];
    const SECRETS: [&str; 7] = ["zeus", "3d1219c7", "ABC123", "9b641ba9", "02:fc", "10.0.0.5", "ada"];

    fn text_of(sections: &[FactSection]) -> String {
        let facts = sections.iter().flat_map(|section| &section.facts);
        facts.map(|fact| format!("{} = {} ({})\n", fact.name, fact.value, fact.state.name())).collect()
    }

    #[test]
    fn identifying_text_is_redacted_by_default() {
        let shown = testing::with(FILES, |files| text_of(&sections(files, |_| true)));
        for secret in SECRETS {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        for line in [
            "serial number = [serial number] (redacted)",
            "eth0: hardware address = [hardware address] (redacted)",
            "kernel command line = root=UUID=[UUID] ip=[address ",
            "], 127.0.0.1 (redacted)",
            "user who measured = [user] (redacted)",
            "host name = [host name] (redacted)",
            "board serial number = no such file (not-disclosed)",
            "meltdown = Not affected (usual)",
            "operator = known only to an operator (not-disclosed)",
        ] {
            assert!(shown.contains(line), "{line} not in {shown}");
        }
        let input = InventoryInput { disclose_identity: true, ..InventoryInput::default() };
        let open = testing::with_asked(FILES, &input, |files| text_of(&sections(files, |_| true)));
        assert!(SECRETS.iter().all(|secret| open.contains(secret)), "{open}");
    }

    /// Goal: an operator can withhold how a kernel was built and booted, wherever it appears.
    #[test]
    fn withheld_fields_appear_nowhere() {
        let files = [
            ("/proc/version", "Linux version 6.1.7-own (me@home) (gcc 15.3) #1 SMP PREEMPT_DYNAMIC @0\n"),
            ("/proc/sys/kernel/ostype", "Linux\n"),
            ("/proc/sys/kernel/osrelease", "6.1.7-own\n"),
            ("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC @0\n"),
            ("/proc/cmdline", "quiet mitigations=auto,no_guest rdinit=/own_init -- --port 2024\n"),
            ("/proc/1/comm", "own_init\n"),
        ];
        let secrets =
            ["6.1.7", "own_init", "me@home", "gcc", "SMP", "PREEMPT", "quiet", "no_guest", "rdinit", "2024"];
        let shown = |withhold: &str| {
            let notes = model::Notes::parse("notes.toml", &format!("format = 1\nwithhold = [{withhold}]\n"));
            let mut all = testing::with(&files, |files| sections(files, |_| true));
            notes.unwrap().merge_into(&mut all);
            text_of(&all)
        };
        let kept = shown(r#""system.command-line", "system.build", "system.init""#);
        for secret in secrets {
            assert!(!kept.contains(secret), "{secret} in {kept}");
        }
        assert!(kept.contains("first process = withheld by the operator (not-disclosed)"), "{kept}");
        let one = shown(r#""system.init""#);
        assert!(one.contains("rdinit=/[withheld] (redacted)") && !one.contains("own_init"), "{one}");
    }

    #[test]
    fn a_remote_server_is_not_described() {
        let input = InventoryInput { server: Some([10, 9, 8, 7].into()), ..InventoryInput::default() };
        let all = testing::with_asked(FILES, &input, inventory_of);
        let (own, other): (Vec<_>, Vec<_>) =
            all.iter().partition(|section| section.title.starts_with(LOAD_MACHINE));
        assert!(own.iter().any(|section| section.title == "Load machine: Kernel settings"));
        assert!(own.iter().all(|section| !section.title.ends_with("The test")));
        let facts: Vec<&Fact> = other.iter().flat_map(|section| &section.facts).collect();
        assert_eq!(facts.len(), Field::all().filter(|field| field.path().0 != SERVER).count());
        assert!(facts.iter().all(|fact| fact.state == FactState::NotDisclosed));
        assert_eq!(unknown_server().title, "Server");
    }

    #[test]
    fn a_server_at_a_local_address_is_local() {
        let here = InventoryInput { server: Some([10, 0, 0, 5].into()), ..InventoryInput::default() };
        let all = testing::with_asked(FILES, &here, inventory_of);
        assert!(all.iter().all(|section| !section.title.starts_with(LOAD_MACHINE)));
    }
}
