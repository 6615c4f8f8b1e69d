//! The machine as found: every field of the catalogue (`model::Field`), with where it is read, or why it is not known.
//!
//! Each module reads the fields of some groups: a table of ids and functions. All of them read through `tree`, so that
//! a directory of files can stand for a machine.
//!
//! - `tree`: reading; `redact`: leaving out what names persons and machines
//! - `dmi`, `smbios`: machine, firmware, memory modules
//! - `processor`, `memory`, `disks`, `controllers`, `interfaces`, `offloads`, `route`: hardware and network
//! - `system`, `limits`, `packages`, `kernel`: software and its settings

mod controllers;
mod disks;
mod dmi;
mod interfaces;
mod kernel;
mod limits;
mod memory;
mod offloads;
mod packages;
mod processor;
mod redact;
mod route;
mod smbios;
mod system;
mod tree;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use model::{Fact, FactSection, FactState, Field, LOAD_MACHINE};

pub use kernel::{clock_source, port_range, sysctl};
pub use processor::{governors, model_name};
pub use redact::Redactor;
pub use route::interface_to;
pub use system::{name_of_user, steal_ratio, user_name};

use tree::{Found, Tree, Unread};

/// What is asked of a machine besides itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InventoryInput {
    /// Whether serial numbers, names and addresses are shown.
    pub disclose_identity: bool,
    /// Where the server is; `None` where there is none to reach.
    pub server: Option<IpAddr>,
    /// Where the server's files are.
    pub files: Option<PathBuf>,
    /// Where a server that is started works.
    pub work: Option<PathBuf>,
    /// Where the run is recorded.
    pub run_file: Option<PathBuf>,
}

/// Reads one field.
struct Reader {
    id: &'static str,
    read: Read,
}

enum Read {
    /// Of the machine.
    One(fn(&Tree) -> Found),
    /// Of one of the group's things, by its name.
    Each(fn(&Tree, &str) -> Found),
}

const fn one(id: &'static str, read: fn(&Tree) -> Found) -> Reader {
    Reader { id, read: Read::One(read) }
}

const fn each(id: &'static str, read: fn(&Tree, &str) -> Found) -> Reader {
    Reader { id, read: Read::Each(read) }
}

const READERS: &[&[Reader]] = &[
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

/// Finds the things of a group by their names.
type FindThings = fn(&Tree) -> Vec<String>;

/// The groups that describe several things, and how these are found.
const THINGS: &[(&str, FindThings)] = &[
    ("mitigation", processor::vulnerabilities),
    ("numa", memory::nodes),
    ("disk", disks::disks),
    ("nic", interfaces::interfaces),
];

/// The group that is known of a server that this program started, and of no other.
const SERVER: &str = "server";

/// What the kernel says of a bug that the processor does not have.
const NOT_AFFECTED: &str = "Not affected";

/// Returns everything found out about this machine, in the order of the report. What an operator alone can say is in
/// it as not disclosed.
///
/// Where the server is on another machine, that machine's fields come first, as not disclosed, and this one's sections
/// say that it made the load.
pub fn inventory(asked: &InventoryInput) -> Vec<FactSection> {
    inventory_of(&Tree::of_this_machine(asked))
}

/// Returns what is to be known of a server, all of it as not disclosed: of one that this run did not start.
pub fn unknown_server() -> FactSection {
    let title = groups(|group| group == SERVER).map(|(_, title)| title.to_owned()).collect();
    let why = || Err(Unread::because("this run did not start the server"));
    FactSection { title, facts: fields(SERVER).map(|field| fact(field, None, why())).collect() }
}

fn inventory_of(tree: &Tree) -> Vec<FactSection> {
    if route::leads_here(tree) {
        return sections(tree, |group| group != SERVER);
    }
    let mut found = sections(tree, Field::is_of_machine);
    found.iter_mut().for_each(|section| section.title.insert_str(0, LOAD_MACHINE));
    let mut all: Vec<FactSection> = groups(|group| group != SERVER).map(unknown_section).collect();
    all.append(&mut found);
    all
}

/// Returns name and version of the package that a program of this machine belongs to, or why that is not known.
pub fn package_of(program: &Path) -> Result<String, String> {
    packages::package_of(&Tree::of_this_machine(&InventoryInput::default()), program)
        .map_err(|why| why.to_string())
}

/// Returns what leaves out of texts what names this machine and who uses it.
pub fn redactor(asked: &InventoryInput) -> Redactor {
    Redactor::of(&Tree::of_this_machine(asked))
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
        Field::NOTES => ONLY_TOLD,
        _ => Unread::because("the server is on another machine, which was not looked at"),
    };
    let facts = fields(group).map(|field| fact(field, None, Err(why(field)))).collect();
    FactSection { title: title.to_owned(), facts }
}

const ONLY_TOLD: Unread = Unread::Because(std::borrow::Cow::Borrowed("only an operator can say it"));

fn sections(tree: &Tree, is_wanted: impl Fn(&str) -> bool) -> Vec<FactSection> {
    let redactor = Redactor::of(tree);
    let mut sections: Vec<FactSection> = groups(is_wanted)
        .map(|(group, title)| FactSection { title: title.to_owned(), facts: facts(tree, group, &redactor) })
        .collect();
    sections.push(kernel::section(tree));
    sections
}

/// Reads a group: first what is one, then thing by thing what each has.
fn facts(tree: &Tree, group: &'static str, redactor: &Redactor) -> Vec<Fact> {
    let shown = |field: &'static Field, thing: Option<&str>, found: Found| {
        redactor.fact(fact(field, thing, found), field.privacy)
    };
    let mut facts = Vec::new();
    let mut of_things = Vec::new();
    for field in fields(group) {
        match reader(field.id) {
            Some(Read::One(read)) => facts.push(shown(field, None, read(tree))),
            Some(Read::Each(read)) => of_things.push((field, *read)),
            None => facts.push(shown(field, None, Err(ONLY_TOLD))),
        }
    }
    let things = THINGS.iter().find(|(name, _)| *name == group).map(|(_, find)| find(tree));
    let things = things.unwrap_or_default();
    if things.is_empty() {
        let none = || Err(Unread::because("none was found"));
        facts.extend(of_things.iter().map(|(field, _)| shown(field, None, none())));
    }
    for thing in &things {
        facts.extend(of_things.iter().map(|(field, read)| shown(field, Some(thing), read(tree, thing))));
    }
    facts
}

fn reader(id: &str) -> Option<&'static Read> {
    READERS.iter().copied().flatten().find(|reader| reader.id == id).map(|reader| &reader.read)
}

fn fact(field: &Field, thing: Option<&str>, found: Found) -> Fact {
    let (value, state) = match found {
        Ok(value) if value == NOT_AFFECTED => (value, FactState::Usual),
        Ok(value) => (value, FactState::Found),
        Err(why) => (why.to_string(), FactState::NotDisclosed),
    };
    Fact { name: field.name_of(thing), value, source: field.source_of(thing), state }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use units::{Clock, Nanos, RealClock};

    use super::tree::fake;
    use super::*;

    #[test]
    fn every_field_that_is_not_only_told_has_one_reader() {
        let mut ids = BTreeSet::new();
        for reader in READERS.iter().copied().flatten() {
            assert!(ids.insert(reader.id), "{} is read twice", reader.id);
            let (group, _) = Field::of(reader.id).unwrap_or_else(|| panic!("no field {}", reader.id)).path();
            let has_things = THINGS.iter().any(|(name, _)| *name == group);
            assert!(has_things || matches!(reader.read, Read::One(_)), "{}", reader.id);
        }
        for field in Field::all() {
            assert_eq!(ids.contains(field.id), field.source != Field::NOTES, "{}", field.id);
        }
    }

    /// Goal: an ordinary Linux machine tells more than 120 things, names none of them without a source, and is quick.
    #[test]
    fn this_machine_tells_much_and_soon() {
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
    fn a_name_occurs_once_in_its_section() {
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
    fn nothing_that_names_somebody_is_shown_without_being_asked_for() {
        let shown = fake::with(FILES, |tree| text_of(&sections(tree, |_| true)));
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
            "operator = only an operator can say it (not-disclosed)",
        ] {
            assert!(shown.contains(line), "{line} not in {shown}");
        }
        let asked = InventoryInput { disclose_identity: true, ..InventoryInput::default() };
        let open = fake::with_asked(FILES, &asked, |tree| text_of(&sections(tree, |_| true)));
        assert!(SECRETS.iter().all(|secret| open.contains(secret)), "{open}");
    }

    /// Goal: how a kernel was built and started can be kept back, wherever it stands.
    #[test]
    fn what_an_operator_keeps_back_stands_nowhere() {
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
            let mut all = fake::with(&files, |tree| sections(tree, |_| true));
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
    fn of_a_server_elsewhere_nothing_is_claimed() {
        let asked = InventoryInput { server: Some([10, 9, 8, 7].into()), ..InventoryInput::default() };
        let all = fake::with_asked(FILES, &asked, inventory_of);
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
    fn a_server_at_an_address_of_this_machine_is_here() {
        let here = InventoryInput { server: Some([10, 0, 0, 5].into()), ..InventoryInput::default() };
        let all = fake::with_asked(FILES, &here, inventory_of);
        assert!(all.iter().all(|section| !section.title.starts_with(LOAD_MACHINE)));
    }
}
