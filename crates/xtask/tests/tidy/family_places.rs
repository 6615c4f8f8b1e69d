//! The places of a family: those that the feature of the family of tests opens. They are few, because a family is reached
//! from one place for each thing that it answers, and documented.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::source::{root, sources};

/// The condition of the family that only tests have.
const CONDITION: &str = concat!("feature = ", "\"echo\"");

/// The most places: they become no more.
const PLACES_MAX: usize = 19;

/// The document whose last table has the places, and the heading above it.
const DOCUMENT: (&str, &str) = ("docs/design/families.md", "## Consequences");

/// The command line, which the document leaves out.
const COMMAND_LINE: &str = "plimsoll/";

/// Returns the number of places in each source that has any, by its path below `crates`.
fn places() -> BTreeMap<&'static str, usize> {
    let of_crates = sources().iter().filter_map(|source| source.path.strip_prefix("crates/"));
    let counted = of_crates.map(|path| {
        let text = fs::read_to_string(root().join("crates").join(path)).unwrap();
        (path, text.matches(CONDITION).count())
    });
    counted.filter(|(_, n)| 0 < *n).collect()
}

#[test]
fn a_family_has_few_places() {
    let places = places();
    let n: usize = places.values().sum();
    assert!(n <= PLACES_MAX, "{n} places of a family, at most {PLACES_MAX} are allowed: {places:#?}");
}

#[test]
fn the_places_of_a_family_are_those_that_the_document_names() {
    let (path, heading) = DOCUMENT;
    let text = fs::read_to_string(root().join(path)).unwrap();
    let (_, table) = text.split_once(heading).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let named: BTreeSet<&str> = rows.map(|(place, _)| place).collect();
    let places = places();
    let found = places.keys().copied().filter(|place| !place.starts_with(COMMAND_LINE));
    assert_eq!(named, found.collect(), "places that {path} names, and those of the code");
}
