//! Groups of runs that were killed.

use std::fs;
use std::path::{Path, PathBuf};

use super::PREFIX;
use super::hierarchy::hierarchies;
use super::node::{kill_all, remove};

/// Returns our groups whose makers are gone, on all hierarchies.
pub fn stale() -> Vec<PathBuf> {
    let hierarchies = hierarchies();
    let parents = hierarchies.iter().flat_map(|hierarchy| &hierarchy.parents);
    let mut found: Vec<PathBuf> = parents.flat_map(|parent| stale_below(parent)).collect();
    found.sort();
    found.dedup();
    found
}

/// Kills what runs in stale groups and removes them.
pub fn remove_stale(groups: &[PathBuf]) {
    kill_all(groups);
    remove(groups);
}

fn stale_below(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stale =
        names.filter(|name| maker(name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
    stale.map(|name| parent.join(name)).collect()
}

/// Returns the process that made the group of a name; `None` if the name is not one of ours.
fn maker(name: &str) -> Option<u32> {
    let (pid, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_own_groups_tell_a_maker() {
        assert_eq!(maker("plimsoll-4711-0"), Some(4711));
        for name in ["plimsoll-4711", "plimsoll-x-1", "system.slice", "plimsoll-1-x", "other-1-1"] {
            assert_eq!(maker(name), None, "{name}");
        }
    }

    /// Goal: groups of a killed run are found and those of a living one are left alone.
    #[test]
    fn a_group_is_stale_when_its_maker_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        // No process has this number: the kernel's highest is 2²² = 4194304.
        let dead = parent.path().join("plimsoll-4194305-0");
        let living = parent.path().join(format!("plimsoll-{}-0", std::process::id()));
        fs::create_dir(&dead).unwrap();
        fs::create_dir(&living).unwrap();
        assert_eq!(stale_below(parent.path()), std::slice::from_ref(&dead));
        remove_stale(&stale_below(parent.path()));
        assert!(!dead.exists() && living.exists());
    }
}
