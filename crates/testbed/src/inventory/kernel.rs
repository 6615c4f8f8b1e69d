//! Kernel settings that can move a result.

use model::FactSection;

use super::section as make_section;
use crate::system_file::read;

/// The settings that are disclosed, as `sysctl` names them.
const SETTINGS: &[&str] = &[
    "fs.file-max",
    "fs.nr_open",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_tw_reuse_delay",
    "net.ipv4.tcp_wmem",
    "vm.swappiness",
];

/// Returns the settings that this kernel has.
pub fn section() -> FactSection {
    let settings = SETTINGS.iter().map(|name| (*name, sysctl(name)));
    make_section("Kernel settings", settings.chain([("clock source", clock_source())]))
}

/// Returns a kernel setting; `None` if this kernel has none of that name. Several numbers are parted by one blank.
pub fn sysctl(name: &str) -> Option<String> {
    let text = read(format!("/proc/sys/{}", name.replace('.', "/")))?;
    Some(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns first and last port of those that the kernel gives to connections that ask for none.
pub fn port_range() -> Option<(u16, u16)> {
    let range = sysctl("net.ipv4.ip_local_port_range")?;
    let (first, last) = range.split_once(' ')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Returns what the kernel reads the time from.
pub fn clock_source() -> Option<String> {
    read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}
