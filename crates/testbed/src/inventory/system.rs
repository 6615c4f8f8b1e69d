//! Operating system, memory, load, and who we are.

use model::FactSection;
use rustix::process::{Resource, getrlimit};
use units::{Bytes, Ratio};

use super::section as make_section;
use crate::system_file::read;

/// Returns what is known about the system.
pub fn section() -> FactSection {
    let kernel = rustix::system::uname();
    let words = [kernel.sysname(), kernel.release(), kernel.version(), kernel.machine()];
    let limit = getrlimit(Resource::Nofile);
    let number = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    make_section(
        "System",
        [
            ("operating system", read("/etc/os-release").and_then(|text| os_name(&text))),
            ("kernel", Some(words.map(|word| word.to_string_lossy().into_owned()).join(" "))),
            ("memory", memory("MemTotal")),
            ("memory available", memory("MemAvailable")),
            ("swap", memory("SwapTotal")),
            (
                "load average",
                read("/proc/loadavg").map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" ")),
            ),
            ("stolen CPU time", steal_ratio().map(|ratio| format!("{ratio} since the machine started"))),
            (
                "open files",
                Some(format!("{} (may be raised to {})", number(limit.current), number(limit.maximum))),
            ),
        ],
    )
}

/// Returns the name of the user whose rights this process has; the number if it has no name.
pub fn user_name() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let users = read("/etc/passwd").unwrap_or_default();
    name_of(uid, &users).unwrap_or_else(|| uid.to_string())
}

/// Returns the part of all CPU time since the machine started that went to other guests of its host.
pub fn steal_ratio() -> Option<Ratio> {
    parse_steal(&read("/proc/stat")?)
}

/// Reads the first line of `/proc/stat`: user nice system idle iowait irq softirq steal guest guest_nice, in ticks.
/// Guest time is part of user time already.
fn parse_steal(stat: &str) -> Option<Ratio> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let total: u64 = ticks.iter().sum();
    (ticks.len() == 8 && 0 < total).then(|| Ratio(ticks[7] as f64 / total as f64))
}

fn os_name(os_release: &str) -> Option<String> {
    let line = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}

fn memory(key: &str) -> Option<String> {
    parse_memory(&read("/proc/meminfo")?, key).map(|bytes| bytes.to_string())
}

/// Reads one line of `/proc/meminfo`, whose `kB` are 1024 bytes.
fn parse_memory(meminfo: &str, key: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(Bytes(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024))
}

fn name_of(uid: u32, passwd: &str) -> Option<String> {
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let of_uid = |fields: &Vec<&str>| fields.get(2).and_then(|field| field.parse().ok()) == Some(uid);
    fields.into_iter().find(of_uid).map(|fields| fields[0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number() {
        // 100 ticks of 1000.
        let ratio = parse_steal("cpu  300 0 100 400 50 0 50 100 25 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(ratio, Ratio(0.1));
        for text in ["", "cpu  1 2 3\n", "cpu  0 0 0 0 0 0 0 0 0 0\n"] {
            assert_eq!(parse_steal(text), None);
        }
    }

    #[test]
    fn names_and_sizes_are_read() {
        assert_eq!(
            os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n").unwrap(),
            "Debian GNU/Linux 12"
        );
        let meminfo = "MemTotal:       16384 kB\nMemTotalX: 1 kB\n";
        assert_eq!(parse_memory(meminfo, "MemTotal"), Some(Bytes(16384 * 1024)));
        assert_eq!(parse_memory(meminfo, "Mem"), None);
        let passwd = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nbroken\n";
        assert_eq!(name_of(1000, passwd).as_deref(), Some("ada"));
        assert_eq!(name_of(7, passwd), None);
    }
}
