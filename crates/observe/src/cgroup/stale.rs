//! Groups left behind by killed runs.

use std::fs;
use std::path::{Path, PathBuf};

use super::PREFIX;
use super::hierarchy::hierarchies;

/// Returns groups of Plimsoll whose creators are gone, in all hierarchies.
pub fn stale_groups() -> Vec<PathBuf> {
    let hierarchies = hierarchies();
    let parents = hierarchies.iter().flat_map(|hierarchy| &hierarchy.parents);
    let mut found: Vec<PathBuf> = parents.flat_map(|parent| stale_below(parent)).collect();
    found.sort();
    found.dedup();
    found
}

fn stale_below(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stale =
        names.filter(|name| creator(name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
    stale.map(|name| parent.join(name)).collect()
}

/// Returns the process that created the group with this name; `None` if it is not a group of Plimsoll.
fn creator(name: &str) -> Option<u32> {
    let (pid, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plimsolls_group_names_contain_a_creator() {
        assert_eq!(creator("plimsoll-4711-0"), Some(4711));
        for name in ["plimsoll-4711", "plimsoll-x-1", "system.slice", "plimsoll-1-x", "other-1-1"] {
            assert_eq!(creator(name), None, "{name}");
        }
    }

    /// Goal: groups of a killed run are found and those of a running one are left alone.
    #[test]
    fn a_group_is_stale_when_its_creator_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        // No process has this id: the kernel's maximum is 2²² = 4194304.
        let dead = parent.path().join("plimsoll-4194305-0");
        let living = parent.path().join(format!("plimsoll-{}-0", std::process::id()));
        fs::create_dir(&dead).unwrap();
        fs::create_dir(&living).unwrap();
        assert_eq!(stale_below(parent.path()), [dead]);
    }
}
