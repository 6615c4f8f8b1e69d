//! Kernel settings that can affect a result, compared with the kernel's defaults.

use model::{Fact, FactSection, FactState};

use super::machine_files::{MachineFiles, Unavailable};
use crate::kernel_file::read;

/// The default of a setting.
enum KernelDefault {
    /// One of these: defaults have changed over time.
    Is(&'static [&'static str]),
    /// Not a constant, but derived from this.
    FollowsFrom(&'static str),
}

use KernelDefault::{FollowsFrom, Is};

/// The settings that are disclosed, by their `sysctl` names. Distributions change some at boot.
///
/// Source: Linux, Documentation/admin-guide/sysctl and Documentation/networking/ip-sysctl.rst, 5.10 to 6.18;
/// for `netdev_budget_usecs`, which is derived from the timer's frequency, net/core/hotdata.c.
const SETTINGS: &[(&str, KernelDefault)] = &[
    ("fs.aio-max-nr", Is(&["65536"])),
    ("fs.epoll.max_user_watches", FollowsFrom("the size of memory")),
    ("fs.file-max", FollowsFrom("the size of memory")),
    ("fs.inotify.max_user_watches", FollowsFrom("the size of memory")),
    ("fs.nr_open", Is(&["1048576"])),
    ("fs.pipe-max-size", Is(&["1048576"])),
    ("kernel.hung_task_timeout_secs", Is(&["120"])),
    ("kernel.io_uring_disabled", Is(&["0"])),
    ("kernel.numa_balancing", FollowsFrom("the number of memory nodes")),
    ("kernel.perf_event_paranoid", Is(&["2"])),
    ("kernel.pid_max", FollowsFrom("the number of CPUs")),
    ("kernel.randomize_va_space", Is(&["2"])),
    ("kernel.sched_autogroup_enabled", Is(&["1"])),
    ("kernel.sched_cfs_bandwidth_slice_us", Is(&["5000"])),
    ("kernel.sched_rr_timeslice_ms", Is(&["100"])),
    ("kernel.sched_rt_period_us", Is(&["1000000"])),
    ("kernel.sched_rt_runtime_us", Is(&["950000"])),
    ("kernel.split_lock_mitigate", Is(&["1"])),
    ("kernel.task_delayacct", Is(&["0"])),
    ("kernel.threads-max", FollowsFrom("the size of memory")),
    ("kernel.timer_migration", Is(&["1"])),
    ("net.core.bpf_jit_enable", Is(&["1"])),
    ("net.core.busy_poll", Is(&["0"])),
    ("net.core.busy_read", Is(&["0"])),
    ("net.core.default_qdisc", Is(&["pfifo_fast"])),
    ("net.core.dev_weight", Is(&["64"])),
    ("net.core.gro_normal_batch", Is(&["8"])),
    ("net.core.netdev_budget", Is(&["300"])),
    ("net.core.netdev_budget_usecs", Is(&["8000", "2000", "20000", "6666"])),
    ("net.core.netdev_max_backlog", Is(&["1000"])),
    ("net.core.optmem_max", Is(&["131072", "20480"])),
    ("net.core.rmem_default", Is(&["212992"])),
    ("net.core.rmem_max", Is(&["212992", "4194304"])),
    ("net.core.rps_sock_flow_entries", Is(&["0"])),
    ("net.core.somaxconn", Is(&["4096", "128"])),
    ("net.core.wmem_default", Is(&["212992"])),
    ("net.core.wmem_max", Is(&["212992", "4194304"])),
    ("net.ipv4.ip_forward", Is(&["0"])),
    ("net.ipv4.ip_local_port_range", Is(&["32768 60999"])),
    ("net.ipv4.tcp_abort_on_overflow", Is(&["0"])),
    ("net.ipv4.tcp_autocorking", Is(&["1"])),
    ("net.ipv4.tcp_congestion_control", Is(&["cubic"])),
    ("net.ipv4.tcp_ecn", Is(&["2"])),
    ("net.ipv4.tcp_fastopen", Is(&["1"])),
    ("net.ipv4.tcp_fin_timeout", Is(&["60"])),
    ("net.ipv4.tcp_keepalive_intvl", Is(&["75"])),
    ("net.ipv4.tcp_keepalive_probes", Is(&["9"])),
    ("net.ipv4.tcp_keepalive_time", Is(&["7200"])),
    ("net.ipv4.tcp_limit_output_bytes", Is(&["1048576", "262144", "4194304"])),
    ("net.ipv4.tcp_max_orphans", FollowsFrom("the size of memory")),
    ("net.ipv4.tcp_max_syn_backlog", FollowsFrom("the size of memory")),
    ("net.ipv4.tcp_max_tw_buckets", FollowsFrom("the size of memory")),
    ("net.ipv4.tcp_mem", FollowsFrom("the size of memory")),
    ("net.ipv4.tcp_min_tso_segs", Is(&["2"])),
    ("net.ipv4.tcp_moderate_rcvbuf", Is(&["1"])),
    ("net.ipv4.tcp_mtu_probing", Is(&["0"])),
    ("net.ipv4.tcp_no_metrics_save", Is(&["0"])),
    ("net.ipv4.tcp_notsent_lowat", Is(&["4294967295"])),
    ("net.ipv4.tcp_retries2", Is(&["15"])),
    ("net.ipv4.tcp_rmem", FollowsFrom("the size of memory")),
    ("net.ipv4.tcp_sack", Is(&["1"])),
    ("net.ipv4.tcp_slow_start_after_idle", Is(&["1"])),
    ("net.ipv4.tcp_syn_retries", Is(&["6"])),
    ("net.ipv4.tcp_synack_retries", Is(&["5"])),
    ("net.ipv4.tcp_syncookies", Is(&["1"])),
    ("net.ipv4.tcp_timestamps", Is(&["1"])),
    ("net.ipv4.tcp_tw_reuse", Is(&["2", "0"])),
    ("net.ipv4.tcp_tw_reuse_delay", Is(&["1000"])),
    ("net.ipv4.tcp_window_scaling", Is(&["1"])),
    ("net.ipv4.tcp_wmem", FollowsFrom("the size of memory")),
    ("vm.compaction_proactiveness", Is(&["20"])),
    ("vm.dirty_background_bytes", Is(&["0"])),
    ("vm.dirty_background_ratio", Is(&["10"])),
    ("vm.dirty_bytes", Is(&["0"])),
    ("vm.dirty_expire_centisecs", Is(&["3000"])),
    ("vm.dirty_ratio", Is(&["20"])),
    ("vm.dirty_writeback_centisecs", Is(&["500"])),
    ("vm.max_map_count", Is(&["65530"])),
    ("vm.min_free_kbytes", FollowsFrom("the size of memory")),
    ("vm.nr_hugepages", Is(&["0"])),
    ("vm.overcommit_memory", Is(&["0"])),
    ("vm.overcommit_ratio", Is(&["50"])),
    ("vm.page-cluster", Is(&["3"])),
    ("vm.stat_interval", Is(&["1"])),
    ("vm.swappiness", Is(&["60"])),
    ("vm.vfs_cache_pressure", Is(&["100"])),
    ("vm.watermark_boost_factor", Is(&["15000"])),
    ("vm.watermark_scale_factor", Is(&["10"])),
    ("vm.zone_reclaim_mode", Is(&["0"])),
];

/// Returns the settings; those with the kernel's default are marked as usual.
pub(super) fn section(files: &MachineFiles) -> FactSection {
    let facts = SETTINGS.iter().map(|(name, default)| setting(files, name, default)).collect();
    FactSection { title: "Kernel settings".to_owned(), facts }
}

fn setting(files: &MachineFiles, name: &str, default: &KernelDefault) -> Fact {
    let (value, state) = match (files.text(path(name)), default) {
        (Err(Unavailable::Absent), _) => ("not present in this kernel".to_owned(), FactState::NotDisclosed),
        (Err(why), _) => (why.to_string(), FactState::NotDisclosed),
        (Ok(text), default) => compare(&one_blank(&text), default),
    };
    Fact { state, ..Fact::found(name, &value).from(&format!("sysctl {name}")) }
}

fn compare(value: &str, default: &KernelDefault) -> (String, FactState) {
    match default {
        Is(known) if known.contains(&value) => (value.to_owned(), FactState::Usual),
        Is(known) => (format!("{value} (default {})", known.join(" or ")), FactState::Found),
        FollowsFrom(what) => (format!("{value} (default depends on {what})"), FactState::Found),
    }
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

/// Separates several numbers by one blank.
fn one_blank(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a kernel setting; `None` if this kernel does not have it. Several numbers are separated by one
/// blank.
pub(crate) fn sysctl(name: &str) -> Option<String> {
    read(path(name)).map(|text| one_blank(&text))
}

/// Returns the first and last of the ports that the kernel assigns to outgoing connections.
pub fn port_range() -> Option<(u16, u16)> {
    let range = sysctl("net.ipv4.ip_local_port_range")?;
    let (first, last) = range.split_once(' ')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Returns the kernel's clock source.
pub(crate) fn clock_source() -> Option<String> {
    read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    #[test]
    fn settings_are_compared_with_the_kernels_defaults() {
        let files = [
            ("/proc/sys/net/core/somaxconn", "4096\n"),
            ("/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"),
            ("/proc/sys/net/ipv4/ip_local_port_range", "1024\t65000\n"),
            ("/proc/sys/net/ipv4/tcp_mem", "1\t2\t3\n"),
            ("/proc/sys/vm/page-cluster", "3\n"),
        ];
        let section = testing::with(&files, section);
        let told = |name: &str| {
            let fact = section.facts.iter().find(|fact| fact.name == name).unwrap();
            (fact.value.as_str(), fact.state)
        };
        assert_eq!(told("net.core.somaxconn"), ("4096", FactState::Usual));
        assert_eq!(told("net.ipv4.tcp_congestion_control"), ("bbr (default cubic)", FactState::Found));
        assert_eq!(
            told("net.ipv4.ip_local_port_range"),
            ("1024 65000 (default 32768 60999)", FactState::Found)
        );
        assert_eq!(
            told("net.ipv4.tcp_mem"),
            ("1 2 3 (default depends on the size of memory)", FactState::Found)
        );
        assert_eq!(told("vm.page-cluster"), ("3", FactState::Usual));
        assert_eq!(told("vm.swappiness"), ("not present in this kernel", FactState::NotDisclosed));
        assert_eq!(section.facts[0].source, "sysctl fs.aio-max-nr");
    }

    #[test]
    fn at_least_sixty_settings_are_disclosed_in_order() {
        assert!(60 <= SETTINGS.len());
        assert!(SETTINGS.is_sorted_by(|one, next| one.0 < next.0));
    }
}
