//! An operator's notes: facts that no program can read, written as TOML.
//!
//! A table per group of fields, a key per field ([`Field`]); `[load]` has the same tables for a machine that only made
//! the load, `[other]` has names of the operator's choice. A note never replaces a fact that was found; `withhold`
//! names fields whose values are not disclosed.

use languages::reader::{TomlTable, ValueError, read_toml, toml_schema};
use languages::spec::{ValueSpec, line, whole_u32};
use languages::{Diagnostics, nearest};
use serde_json::{Value, json};

use crate::Field;
use crate::redactions::Redactions;
use crate::testbed::{Fact, FactSection, FactState, LOAD_MACHINE};

/// The version of the form of notes.
pub const NOTES_FORMAT: u32 = 1;

/// Heading of the notes under names of the operator's choice.
const OTHER: &str = "Other notes";

/// The notes of an operator about a testbed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The notes in the order of the report.
    notes: Vec<Note>,
    withheld: Redactions,
}

/// A note: its value, and its section and name in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    section: String,
    name: String,
    value: String,
}

impl Notes {
    /// Reads notes; `file_name` is what messages call the text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown keys, values that are not a line
    /// of text.
    pub fn parse(file_name: &str, text: &str) -> Result<Notes, Diagnostics> {
        read_toml("notes", file_name, text, read_notes)
    }

    /// Adds a text that the operator gave with the run, such as a price list, as it is.
    #[must_use]
    pub fn with(mut self, section: &str, name: &str, text: &str) -> Notes {
        let [section, name, value] = [section, name, text].map(str::to_owned);
        self.notes.push(Note { section, name, value });
        self
    }

    /// Removes the withheld values, then adds the notes: each replaces a fact that is not disclosed, else it follows
    /// the fact that was found.
    pub fn merge_into(&self, sections: &mut Vec<FactSection>) {
        self.withheld.take_from(sections);
        for note in &self.notes {
            let fact =
                Fact { state: FactState::Told, ..Fact::found(&note.name, &note.value).from(Field::NOTES) };
            match sections.iter_mut().find(|section| section.title == note.section) {
                Some(section) => add(section, fact),
                None => sections.push(FactSection { title: note.section.clone(), facts: vec![fact] }),
            }
        }
    }
}

fn add(section: &mut FactSection, note: Fact) {
    match section.facts.iter().position(|known| known.name == note.name) {
        Some(at) if section.facts[at].state == FactState::NotDisclosed => section.facts[at] = note,
        Some(at) => section.facts.insert(at + 1, note),
        None => section.facts.push(note),
    }
}

fn read_notes(mut top: TomlTable) -> Option<Notes> {
    top.describe("Notes", "What an operator says about a testbed, for the disclosure.");
    let format =
        top.required("format", "The version of this form: 1.", whole_u32(NOTES_FORMAT..=NOTES_FORMAT));
    let fields = field().non_empty_list();
    let withheld = top.optional("withhold", "Fields that are found and not disclosed.", fields);
    let withheld = Redactions::of(&withheld.unwrap_or_default());
    let mut notes = read_groups(&mut top, "", |_| true);
    let about_load = "A machine that made the load and did not run the server.";
    if let Some(mut load) = top.optional_table("load", about_load) {
        notes.extend(read_groups(&mut load, LOAD_MACHINE, Field::is_of_machine));
        load.finish();
    }
    if let Some(mut other) = top.optional_table("other", "Anything else, under names of your choice.") {
        let others = other.named(note()).into_iter();
        notes.extend(others.map(|(name, value)| Note { section: OTHER.to_owned(), name, value }));
        other.finish();
    }
    top.finish();
    format.map(|_| Notes { notes, withheld })
}

/// Notes on a field.
fn note() -> ValueSpec<String> {
    line().named("Line", "One line of text.")
}

/// Fields, by their ids.
fn field() -> ValueSpec<&'static Field> {
    let ids = || json!({ "enum": Field::all().map(|field| field.id).collect::<Vec<&str>>() });
    let read = |written: String| {
        Field::of(&written).ok_or_else(|| {
            let error =
                ValueError::new(format!("expected fields such as `system.command-line`, found `{written}`"));
            match candidates(&written).as_slice() {
                [] => {
                    error.hint("a field is written as a table and a key of these notes, with a dot between")
                }
                ids => error.hint(format!("did you mean {}?", ids.join(" or "))),
            }
        })
    };
    let line = line();
    ValueSpec::new(ids, move |value| line.read(value).and_then(read))
}

/// Returns the fields that a mistyped id may mean: those with this name in reports, or with a similar id.
fn candidates(written: &str) -> Vec<String> {
    let words = |name: &str| name.to_lowercase().replace([' ', '_'], "-");
    let is_called = |field: &&Field| [words(field.name).as_str(), field.path().1].contains(&&*words(written));
    let called: Vec<&str> = Field::all().filter(is_called).map(|field| field.id).collect();
    let ids = if called.is_empty() {
        nearest(written, Field::all().map(|field| field.id)).into_iter().collect()
    } else {
        called
    };
    ids.iter().map(|id| format!("`{id}`")).collect()
}

fn read_groups(table: &mut TomlTable, before_title: &str, is_here: fn(&str) -> bool) -> Vec<Note> {
    let mut notes = Vec::new();
    for (group, title) in Field::groups().iter().filter(|(group, _)| is_here(group)) {
        let Some(mut keys) = table.optional_table(group, title) else { continue };
        // The same for both machines.
        keys.describe(group, title);
        for field in Field::all().filter(|field| field.path().0 == *group) {
            let value = keys.optional(field.path().1, &about(field), note());
            let section = format!("{before_title}{title}");
            notes.extend(value.map(|value| Note { section, name: field.name_of(None), value }));
        }
        keys.finish();
    }
    notes
}

fn about(field: &Field) -> String {
    match field.source {
        Field::NOTES => format!("{}; only an operator can say it", field.name_of(None)),
        _ => format!("{}; found in {}", field.name_of(None), field.source_of(None)),
    }
}

/// Returns the JSON Schema (2020-12) of notes.
pub fn notes_schema() -> Value {
    toml_schema("Plimsoll notes", read_notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::{is_published, keys_named, keys_read, schema_faults};

    fn mistakes(text: &str) -> String {
        Notes::parse("notes.toml", text).unwrap_err().to_string()
    }

    fn facts(title: &str, facts: &[(&str, &str, FactState)]) -> FactSection {
        let fact = |(name, value, state): &(&str, &str, FactState)| Fact {
            state: *state,
            ..Fact::found(name, value).from("/sys/x")
        };
        FactSection { title: title.to_owned(), facts: facts.iter().map(fact).collect() }
    }

    #[test]
    fn notes_replace_missing_facts_and_follow_found_ones() {
        let text = r#"
            format = 1
            [machine]
            vendor = "Dell Inc."
            serial = "on request"
            [memory]
            modules = "8 × 32 GB DDR4"
            [other]
            "day of the week" = "Sunday"
            [load.processor]
            model = "Xeon 5118"
        "#;
        let notes = Notes::parse("notes.toml", text).unwrap();
        let mut sections = vec![facts(
            "Machine",
            &[
                ("vendor", "QEMU", FactState::Found),
                ("model", "Standard PC", FactState::Found),
                ("serial number", "permission denied", FactState::NotDisclosed),
            ],
        )];
        notes.merge_into(&mut sections);
        let all: Vec<(&str, &str, &str, &str, &str)> = sections
            .iter()
            .flat_map(|section| section.facts.iter().map(move |fact| (section.title.as_str(), fact)))
            .map(|(title, fact)| (title, &*fact.name, &*fact.value, &*fact.source, fact.state.name()))
            .collect();
        let expected = [
            ("Machine", "vendor", "QEMU", "/sys/x", "found"),
            ("Machine", "vendor", "Dell Inc.", "notes", "told"),
            ("Machine", "model", "Standard PC", "/sys/x", "found"),
            ("Machine", "serial number", "on request", "notes", "told"),
            ("Memory", "modules", "8 × 32 GB DDR4", "notes", "told"),
            ("Load machine: Processor", "model", "Xeon 5118", "notes", "told"),
            ("Other notes", "day of the week", "Sunday", "notes", "told"),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_withheld_fact_can_be_replaced_by_a_note() {
        let text =
            "format = 1\nwithhold = [\"system.kernel\", \"system.init\"]\n[system]\nkernel = \"Linux 6.1\"\n";
        let notes = Notes::parse("notes.toml", text).unwrap();
        let found =
            [("kernel", "Linux 6.1.7-own", FactState::Found), ("first process", "own", FactState::Found)];
        let mut sections = vec![facts("System", &found)];
        notes.merge_into(&mut sections);
        let after: Vec<(&str, FactState)> =
            sections[0].facts.iter().map(|fact| (&*fact.value, fact.state)).collect();
        let withheld = ("withheld by the operator", FactState::NotDisclosed);
        assert_eq!(after, [("Linux 6.1", FactState::Told), withheld]);
    }

    #[test]
    fn mistakes_are_shown_at_their_position() {
        let text = "format = 1\n[machine]\nvendro = \"Dell\"\nmodel = 730\n[load.price]\ntotal = \"1\"\n";
        insta::assert_snapshot!(mistakes(text), @r#"
        error: unknown key `vendro` in `machine`
         --> notes.toml:3:1
          |
        3 | vendro = "Dell"
          | ^^^^^^ not a key of notes
          |
          = hint: did you mean `vendor`?

        error: `machine.model` is not valid
         --> notes.toml:4:9
          |
        4 | model = 730
          |         ^^^ expected a string, found an integer

        error: unknown key `price` in `load`
         --> notes.toml:5:7
          |
        5 | [load.price]
          |       ^^^^^ not a key of notes
          |
          = hint: keys here are machine, firmware, processor, mitigation, numa, memory, disk, storage, controller, nic, network, filesystem, system, software, limit
        "#);
        insta::assert_snapshot!(mistakes("format = 1\nwithhold = [\"kernel-command-line\"]\n"), @r#"
        error: `withhold` is not valid
         --> notes.toml:2:12
          |
        2 | withhold = ["kernel-command-line"]
          |            ^^^^^^^^^^^^^^^^^^^^^^^ expected fields such as `system.command-line`, found `kernel-command-line`
          |
          = hint: did you mean `system.command-line`?
        "#);
        assert!(
            mistakes("format = 1\nwithhold = [\"sytem.init\"]\n").contains("did you mean `system.init`?")
        );
        assert!(mistakes("format = 1\nwithhold = \"system.init\"\n").contains("expected an array"));
        assert!(mistakes("[machine]\n").contains("`format` is missing"));
        assert!(mistakes("format = 2\n").contains("expected 1, found 2"));
    }

    #[test]
    fn the_example_of_the_documentation_is_read() {
        let page = include_str!("../../../docs/inventory.md");
        let (_, rest) = page.split_once("```toml\n").unwrap();
        let notes = Notes::parse("inventory.md", rest.split("```").next().unwrap()).unwrap();
        assert_eq!(notes.notes.len(), 12);
    }

    /// Goal: notes can contain every field, for both machines; the schema names the same keys as are read.
    #[test]
    fn notes_can_contain_every_field_and_the_schema_names_it() {
        let mut text = String::from("format = 1\nwithhold = [\"system.init\"]\nother.x = \"x\"\n");
        for field in Field::all() {
            let (group, key) = field.path();
            text += &format!("{group}.{key} = \"x\"\n");
            if Field::is_of_machine(group) {
                text += &format!("load.{group}.{key} = \"x\"\n");
            }
        }
        let notes = Notes::parse("notes.toml", &text).unwrap();
        let n_machine = Field::all().filter(|field| Field::is_of_machine(field.path().0)).count();
        assert_eq!(notes.notes.len(), Field::all().count() + n_machine + 1);
        assert_eq!(keys_read(&[&text], &["/other"]), keys_named(notes_schema()));
        let schema = notes_schema();
        assert_eq!(
            schema["properties"]["withhold"]["items"]["enum"].as_array().unwrap().len(),
            Field::all().count()
        );
    }

    #[test]
    fn the_schema_refuses_what_the_program_refuses() {
        let faults = |text: &str| schema_faults(&notes_schema(), &toml::from_str::<Value>(text).unwrap());
        assert_eq!(faults("format = 1\n[load.processor]\nmodel = \"x\"\n"), [""; 0]);
        for text in [
            "[machine]\n",
            "format = 2\n",
            "format = 1\nwithhold = []\n",
            "format = 1\nwithhold = [\"sytem.init\"]\n",
            "format = 1\n[machine]\nvendro = \"Dell\"\n",
            "format = 1\n[machine]\nmodel = 730\n",
            "format = 1\n[machine]\nmodel = \"\"\n",
            "format = 1\n[load.price]\ntotal = \"1\"\n",
            "format = 1\n[other]\nday = 5\n",
        ] {
            assert!(!faults(text).is_empty(), "{text}");
            assert!(Notes::parse("notes.toml", text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("notes.schema.json", notes_schema());
    }
}
