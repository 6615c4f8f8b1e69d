//! Resource limits of this process, which its children inherit.

use super::machine_files::{FieldValue, MachineFiles, Unavailable};
use super::{FieldReader, one};

pub(super) const READERS: &[FieldReader] = &[
    one("limit.open-files", |files| limit(files, "Max open files")),
    one("limit.processes", |files| limit(files, "Max processes")),
    one("limit.locked-memory", |files| limit(files, "Max locked memory")),
    one("limit.stack", |files| limit(files, "Max stack size")),
    one("limit.address-space", |files| limit(files, "Max address space")),
    one("limit.data", |files| limit(files, "Max data size")),
    one("limit.file-size", |files| limit(files, "Max file size")),
    one("limit.core", |files| limit(files, "Max core file size")),
    one("limit.cpu-time", |files| limit(files, "Max cpu time")),
    one("limit.pending-signals", |files| limit(files, "Max pending signals")),
    one("limit.priority", |files| limit(files, "Max nice priority")),
    one("limit.realtime", |files| limit(files, "Max realtime priority")),
];

fn limit(files: &MachineFiles, name: &str) -> FieldValue {
    parse(&files.text("/proc/self/limits")?, name).ok_or(Unavailable::because("not reported by the kernel"))
}

/// Parses a line with columns of 26, 21 and 21 characters: name, soft limit, hard limit, unit.
fn parse(limits: &str, name: &str) -> Option<String> {
    let line = limits.lines().find(|line| line.get(..26).is_some_and(|column| column.trim_end() == name))?;
    let words: Vec<&str> = line.get(26..)?.split_ascii_whitespace().collect();
    let [soft, hard, ..] = words[..] else { return None };
    let unit = words.get(2).filter(|_| soft != "unlimited").map_or(String::new(), |unit| format!(" {unit}"));
    Some(if soft == hard {
        format!("{soft}{unit}")
    } else {
        format!("{soft}{unit} (can be raised to {hard})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed_by_column() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max stack size            8388608              unlimited            bytes     \n\
            Max open files            20000                20000                files     \n\
            Max nice priority         0                    0                    \n\
            Max cpu time              unlimited            unlimited            seconds   \n";
        let limit = |name| parse(text, name);
        assert_eq!(limit("Max stack size").unwrap(), "8388608 bytes (can be raised to unlimited)");
        assert_eq!(limit("Max open files").unwrap(), "20000 files");
        assert_eq!(limit("Max nice priority").unwrap(), "0");
        assert_eq!(limit("Max cpu time").unwrap(), "unlimited");
        assert_eq!(limit("Max"), None);
    }
}
