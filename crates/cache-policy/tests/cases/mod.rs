//! The rules of caching, case by case: each case is a table in a file beside this one, with its clause.
//!
//! - `required`: another decision breaks the clause.
//! - `optimal`: another decision is allowed, but asks the origin without need.
//! - `behaviour`: the clause leaves it open; this is the choice made here.

mod ask;
mod case;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use case::{Case, Mark, read_all};

#[test]
fn every_case_has_the_expected_decision() {
    let wrong: Vec<String> = read_all().iter().filter_map(difference).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the difference between the decision and the expected one, if there is one.
fn difference(case: &Case) -> Option<String> {
    let expected = case.expected();
    let found = ask::decide(case);
    (expected != found).then(|| {
        format!("{}: {} ({})\n  expected: {expected}\n  found:    {found}", case.file, case.name, case.clause)
    })
}

#[test]
fn there_are_many_cases_of_every_mark() {
    let mut counts: BTreeMap<Mark, usize> = BTreeMap::new();
    let cases = read_all();
    cases.iter().for_each(|case| *counts.entry(case.mark).or_default() += 1);
    assert!(250 <= cases.len(), "{} cases", cases.len());
    assert!(counts.len() == 3 && 100 <= counts[&Mark::Required], "{counts:?}");
}

#[test]
fn case_names_are_unique_and_clauses_given() {
    let mut names = BTreeSet::new();
    for case in read_all() {
        assert!(names.insert((case.file.clone(), case.name.clone())), "{}: {} twice", case.file, case.name);
        let is_clause = case.clause.starts_with("RFC ") && case.clause.contains(" §");
        assert!(is_clause, "{}: {}: `{}`", case.file, case.name, case.clause);
    }
}

/// Reasons that only the cases of these questions can cause.
macro_rules! reasons_of {
    ($($ask:literal: $reason:ident),+ $(,)?) => {
        vec![$(($ask, cache_policy::$reason::ALL.iter().map(|one| (one.name(), one.clause())).collect::<Vec<_>>())),+]
    };
}

/// Returns the names and clauses of all reasons, by question. A truncated body is left to the unit tests.
fn reasons() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut reasons = reasons_of! {
        "store": NotStored, "lifetime": LifetimeSource, "answer": StaleReason, "answer": ValidationReason, "answer": Condition,
        "answer": RangeReason, "answer": PassReason, "answer": MissReason, "failure": NoStaleReason,
        "freshen": NotFreshened, "head": Mismatch, "invalidation": NotInvalidated, "key": KeyRefused,
        "superseded": Superseded, "cache-status": Forward,
    };
    // `if-error` and `disconnected` are reasons of `failure`, nothing stored here is a part, a key is no reference, a
    // target that is too long has no place in a table, and for which responses there is room, is for the store to say.
    let elsewhere = [
        "incomplete",
        "too-large",
        "no-room",
        "if-error",
        "disconnected",
        "partial",
        "miss",
        "other-scheme",
        "too-long",
    ];
    reasons.iter_mut().for_each(|(_, list)| list.retain(|(name, _)| !elsewhere.contains(name)));
    reasons
}

#[test]
fn every_reason_has_a_case() {
    let cases = read_all();
    let has_word =
        |case: &Case, name: &str| case.expected().split([' ', ';', ',', '=']).any(|word| word == name);
    for (ask, list) in reasons() {
        for (name, _) in list {
            let is_found = cases.iter().any(|case| case.ask == ask && has_word(case, name));
            assert!(is_found, "no case of `{ask}` has the reason `{name}`");
        }
    }
}

#[test]
fn every_reason_names_a_clause() {
    for (name, clause) in reasons().into_iter().flat_map(|(_, list)| list) {
        assert!(clause.starts_with("RFC ") && clause.contains(" §"), "{name}: {clause}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
    }
}
