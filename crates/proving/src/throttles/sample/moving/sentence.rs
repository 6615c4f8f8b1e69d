//! The sentence of a run about its bottleneck, compared with the names of its load points.

/// Returns whether a sentence tells of each load what its load point is named; `named` has loads in users.
///
/// Each clause begins with the bottleneck and has its loads: `processor-bound at 15 users; network-bound above 15 users`. Loads
/// without a bottleneck are left out. A clause about a disk that met both of its limits has each with its loads:
/// `disk-bound from 15 to 16 users, by its operations at 15, by its bandwidth at 16`.
pub(super) fn agrees(sentence: &str, named: &[(u32, &str)]) -> bool {
    named.iter().all(|(load, name)| {
        let mut clauses = sentence.split("; ");
        match clauses.find(|clause| covers(clause, *load)) {
            None => *name == "none",
            Some(clause) => {
                let mut limits = clause.split(", by its ").skip(1);
                let limit = limits.find(|limit| covers(limit, *load));
                let (resource, kind) = name.split_once(' ').unwrap_or((name, ""));
                clause.contains(resource) && limit.is_none_or(|limit| limit.starts_with(kind))
            }
        }
    })
}

/// Returns whether a clause is about a load.
fn covers(clause: &str, load: u32) -> bool {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let number = |word: &str| word.parse::<u32>().ok();
    words.windows(2).enumerate().any(|(index, pair)| match (pair[0], number(pair[1])) {
        ("at", Some(only)) => only == load,
        ("above", Some(last)) => last < load,
        ("from", Some(first)) => {
            let last = words.get(index + 3).and_then(|word| number(word));
            last.is_some_and(|last| (first..=last).contains(&load))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_has_the_name_of_its_clause() {
        let moved = "processor-bound at 15 users; probably network-bound at 16 users";
        for (sentence, names, expected) in [
            (moved, ["none", "processor", "network"], true),
            (moved, ["none", "network", "network"], false),
            (moved, ["processor", "processor", "network"], false),
            (
                "limited by the generator from 1 to 15 users; memory-bound at 16",
                ["generator", "generator", "memory"],
                true,
            ),
            ("disk-bound above 1 user", ["none", "disk operations", "disk bandwidth"], true),
            ("disk-bound above 1 user", ["disk operations", "disk operations", "disk bandwidth"], false),
            (
                "disk-bound from 15 to 16 users, by its operations at 15, by its bandwidth at 16",
                ["none", "disk operations", "disk bandwidth"],
                true,
            ),
            (
                "disk-bound from 15 to 16 users, by its operations at 15, by its bandwidth at 16",
                ["none", "disk bandwidth", "disk bandwidth"],
                false,
            ),
            ("none was reached at the loads tested", ["none", "none", "none"], true),
            ("none was reached at the loads tested", ["none", "none", "network"], false),
        ] {
            let named: Vec<(u32, &str)> = [1, 15, 16].into_iter().zip(names).collect();
            assert_eq!(agrees(sentence, &named), expected, "{sentence} {names:?}");
        }
    }

    #[test]
    fn numbers_of_other_things_are_no_loads() {
        assert!(covers("processor-bound at 16 users, on a processor used mostly by sh (0.94 CPUs)", 16));
        assert!(!covers("mixed from 12 to 40 (CPU 78 %, disk 71 %)", 78));
        assert!(!covers("bound by its number of workers", 1));
    }
}
