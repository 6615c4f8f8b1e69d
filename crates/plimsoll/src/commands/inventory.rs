//! `inventory`: this machine's hardware and software settings, with the operator's notes.

use std::path::Path;

use model::{Fact, FactSection, FactState, Notes};
use observe::{InventoryInput, inventory};
use serde_json::json;

use super::{print, print_json};
use crate::arguments::DisclosureArguments;
use crate::exit::{Exit, Failure};
use crate::files;

/// Lists all facts found, then those not disclosed.
pub(super) fn perform(arguments: &DisclosureArguments, as_json: bool) -> Result<Exit, Failure> {
    let notes = notes(arguments.notes.as_deref())?;
    let asked =
        InventoryInput { disclose_identity: arguments.disclose_identity, ..InventoryInput::default() };
    let mut sections = inventory(&asked);
    notes.merge_into(&mut sections);
    if as_json {
        let sections: Vec<_> = sections.iter().map(section_json).collect();
        print_json(&json!({ "format": 1, "sections": sections }))?;
    } else {
        print(&text(&sections))?;
    }
    Ok(Exit::Valid)
}

/// Reads the operator's notes; empty without a file.
pub(super) fn notes(path: Option<&Path>) -> Result<Notes, Failure> {
    let Some(path) = path else { return Ok(Notes::default()) };
    Ok(Notes::parse(&path.display().to_string(), &files::read(path)?)?)
}

fn section_json(section: &FactSection) -> serde_json::Value {
    let fact = |fact: &Fact| json!({ "name": fact.name, "value": fact.value, "source": fact.source, "state": fact.state.name() });
    json!({ "title": section.title, "facts": section.facts.iter().map(fact).collect::<Vec<_>>() })
}

fn text(sections: &[FactSection]) -> String {
    let facts = || sections.iter().flat_map(|section| &section.facts);
    let missing = facts().filter(|fact| fact.state == FactState::NotDisclosed).count();
    let mut paragraphs: Vec<String> = sections.iter().filter_map(section_text).collect();
    paragraphs.extend(missing_text(sections));
    paragraphs.push(format!("{} found, {missing} not disclosed.", facts().count() - missing));
    paragraphs.join("\n\n")
}

/// Formats a section as lines `name  value  (source)`; `None` if none of its facts is known.
fn section_text(section: &FactSection) -> Option<String> {
    let known: Vec<&Fact> = known(section).collect();
    let width = known.iter().map(|fact| fact.name.chars().count()).max()?;
    let line = |fact: &&Fact| {
        let who = if fact.state == FactState::Told { "the operator says: " } else { "" };
        format!("  {:width$}  {who}{}  ({})", fact.name, fact.value, fact.source)
    };
    let lines: Vec<String> = known.iter().map(line).collect();
    Some(format!("{}\n{}", section.title, lines.join("\n")))
}

fn known(section: &FactSection) -> impl Iterator<Item = &Fact> {
    section.facts.iter().filter(|fact| fact.state != FactState::NotDisclosed)
}

/// Lists the facts that are not disclosed: one line per section and reason.
fn missing_text(sections: &[FactSection]) -> Option<String> {
    let of_section = |section: &FactSection| {
        let line =
            |(why, names): (&str, Vec<&str>)| format!("  {}: {} ({why})", section.title, names.join(", "));
        section.missing().into_iter().map(line).collect::<Vec<_>>()
    };
    let lines: Vec<String> = sections.iter().flat_map(of_section).collect();
    (!lines.is_empty()).then(|| format!("Not disclosed\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_facts_are_listed_with_their_source_and_undisclosed_ones_at_the_end() {
        let fact = |name: &str, value: &str, state| Fact { state, ..Fact::found(name, value).from("/sys/x") };
        let section = |title: &str, facts: Vec<Fact>| FactSection { title: title.to_owned(), facts };
        let sections = [
            section(
                "Machine",
                vec![
                    fact("vendor", "QEMU", FactState::Found),
                    fact("vendor", "Dell", FactState::Told),
                    fact("serial number", "permission denied", FactState::NotDisclosed),
                ],
            ),
            section(
                "Price",
                vec![fact("price list", "only an operator can say it", FactState::NotDisclosed)],
            ),
        ];
        let expected = "Machine\n  vendor  QEMU  (/sys/x)\n  vendor  the operator says: Dell  (/sys/x)\n\n\
            Not disclosed\n  Machine: serial number (permission denied)\n  Price: price list (only an operator can say it)\n\n\
            2 found, 2 not disclosed.";
        assert_eq!(text(&sections), expected);
    }
}
