//! What a process may use: the limits under which we run, and what we start.

use super::tree::{Found, Tree, Unread};
use super::{Reader, one};

pub(super) const READERS: &[Reader] = &[
    one("limit.open-files", |tree| limit(tree, "Max open files")),
    one("limit.processes", |tree| limit(tree, "Max processes")),
    one("limit.locked-memory", |tree| limit(tree, "Max locked memory")),
    one("limit.stack", |tree| limit(tree, "Max stack size")),
    one("limit.address-space", |tree| limit(tree, "Max address space")),
    one("limit.data", |tree| limit(tree, "Max data size")),
    one("limit.file-size", |tree| limit(tree, "Max file size")),
    one("limit.core", |tree| limit(tree, "Max core file size")),
    one("limit.cpu-time", |tree| limit(tree, "Max cpu time")),
    one("limit.pending-signals", |tree| limit(tree, "Max pending signals")),
    one("limit.priority", |tree| limit(tree, "Max nice priority")),
    one("limit.realtime", |tree| limit(tree, "Max realtime priority")),
];

fn limit(tree: &Tree, name: &str) -> Found {
    parse(&tree.text("/proc/self/limits")?, name).ok_or(Unread::because("the kernel does not tell"))
}

/// Reads a line of columns that are 26, 21 and 21 letters wide: name, limit, the most that it may be raised to, unit.
fn parse(limits: &str, name: &str) -> Option<String> {
    let line = limits.lines().find(|line| line.get(..26).is_some_and(|column| column.trim_end() == name))?;
    let words: Vec<&str> = line.get(26..)?.split_ascii_whitespace().collect();
    let [soft, hard, ..] = words[..] else { return None };
    let unit = words.get(2).filter(|_| soft != "unlimited").map_or(String::new(), |unit| format!(" {unit}"));
    Some(if soft == hard {
        format!("{soft}{unit}")
    } else {
        format!("{soft}{unit} (may be raised to {hard})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_stand_in_columns() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max stack size            8388608              unlimited            bytes     \n\
            Max open files            20000                20000                files     \n\
            Max nice priority         0                    0                    \n\
            Max cpu time              unlimited            unlimited            seconds   \n";
        let limit = |name| parse(text, name);
        assert_eq!(limit("Max stack size").unwrap(), "8388608 bytes (may be raised to unlimited)");
        assert_eq!(limit("Max open files").unwrap(), "20000 files");
        assert_eq!(limit("Max nice priority").unwrap(), "0");
        assert_eq!(limit("Max cpu time").unwrap(), "unlimited");
        assert_eq!(limit("Max"), None);
    }
}
