//! The operating system: version, boot options, settings, user.

use units::Ratio;

use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined, keyed};
use super::memory::yes;
use super::{FieldReader, one};
use crate::kernel_file::read;

const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) const READERS: &[FieldReader] = &[
    one("system.distribution", |files| os_release(files, "PRETTY_NAME")),
    one("system.release", |files| {
        files.text("/etc/debian_version").or_else(|_| os_release(files, "VERSION_ID"))
    }),
    one("system.kernel", kernel),
    one("system.architecture", |files| files.text("/proc/sys/kernel/arch")),
    one("system.build", |files| files.text("/proc/version")),
    one("system.preemption", |files| preemption(&files.text("/proc/version")?)),
    one("system.tick", tick),
    one("system.command-line", |files| Ok(of_the_kernel(&files.text("/proc/cmdline")?))),
    one("system.modules", |files| Ok(files.text("/proc/modules")?.lines().count().to_string())),
    one("system.tainted", |files| files.text("/proc/sys/kernel/tainted")),
    one("system.live-patches", live_patches),
    one("system.init", |files| files.text("/proc/1/comm")),
    one("system.uptime", |files| uptime(&files.text("/proc/uptime")?)),
    one("system.load", |files| load_average(&files.text("/proc/loadavg")?)),
    one("system.processes", |files| processes(&files.text("/proc/loadavg")?)),
    one("system.steal", |files| {
        let ratio = parse_steal(&files.text("/proc/stat")?).ok_or(NOT_REPORTED)?;
        Ok(format!("{ratio} since the machine started"))
    }),
    one("system.pressure", |files| {
        Ok(if files.has("/proc/pressure/cpu") { "available" } else { "not available" }.to_owned())
    }),
    one("system.clock-source", |files| files.text(format!("{CLOCK}/current_clocksource"))),
    one("system.clock-sources", |files| files.text(format!("{CLOCK}/available_clocksource"))),
    one("system.time-sync", time_sync),
    one("system.time-zone", time_zone),
    one("system.locale", locale),
    one("system.cgroups", |files| Ok(cgroups(&files.text("/proc/mounts")?))),
    one("system.cgroup-controllers", |files| Ok(cgroup_controllers(&files.text("/proc/cgroups")?))),
    one("system.cgroup-quota", cgroup_quota),
    one("system.cpus-allowed", |files| status(files, "Cpus_allowed_list")),
    one("system.memory-nodes", |files| status(files, "Mems_allowed_list")),
    one("system.capabilities", |files| Ok(capabilities(&status(files, "CapEff")?))),
    one(
        "system.seccomp",
        |files| Ok(if status(files, "Seccomp")? == "0" { "none" } else { "on" }.to_owned()),
    ),
    one("system.user", |files| user(files).map(|(_, name)| name).ok_or(NOT_REPORTED)),
    one("system.machine-id", |files| files.text("/etc/machine-id")),
    one("system.boot-id", |files| files.text("/proc/sys/kernel/random/boot_id")),
    one("system.security-modules", |files| files.text("/sys/kernel/security/lsm")),
    one("system.selinux", |files| {
        Ok(if files.text("/sys/fs/selinux/enforce")? == "1" { "enforcing" } else { "permissive" }.to_owned())
    }),
    one("system.apparmor", |files| files.text("/sys/module/apparmor/parameters/enabled").map(|on| yes(&on))),
    one("system.lockdown", |files| Ok(super::memory::chosen(&files.text("/sys/kernel/security/lockdown")?))),
    one("system.fips", |files| files.text("/proc/sys/crypto/fips_enabled").map(|on| yes(&on))),
    one("system.tuning-profile", |files| files.text("/etc/tuned/active_profile")),
];

const NOT_REPORTED: Unavailable =
    Unavailable::Because(std::borrow::Cow::Borrowed("not reported by the kernel"));

/// Returns the name of this process's user; the id if it has no name.
pub fn user_name() -> String {
    name_of_user(rustix::process::geteuid().as_raw())
}

/// Returns the name of this process's user, if it has one.
pub fn named_user() -> Option<String> {
    let users = read("/etc/passwd").unwrap_or_default();
    name_of(rustix::process::geteuid().as_raw(), &users).filter(|name| !name.is_empty())
}

/// Returns the name of a user; the id if it has no name.
pub(crate) fn name_of_user(uid: u32) -> String {
    let users = read("/etc/passwd").unwrap_or_default();
    name_of(uid, &users).unwrap_or_else(|| uid.to_string())
}

/// Returns id and name of this process's effective user.
pub(super) fn user(files: &MachineFiles) -> Option<(u32, String)> {
    // Real, effective, saved, file system.
    let uid = status(files, "Uid").ok()?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let users = files.text("/etc/passwd").unwrap_or_default();
    Some((uid, name_of(uid, &users).unwrap_or_else(|| uid.to_string())))
}

fn name_of(uid: u32, passwd: &str) -> Option<String> {
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let of_uid = |fields: &Vec<&str>| fields.get(2).and_then(|field| field.parse().ok()) == Some(uid);
    fields.into_iter().find(of_uid).map(|fields| fields[0].to_owned())
}

/// Returns the share of all CPU time since boot that the host gave to other guests (steal).
pub(crate) fn steal_ratio() -> Option<Ratio> {
    parse_steal(&read("/proc/stat")?)
}

/// Parses the first line of `/proc/stat`: user nice system idle iowait irq softirq steal guest guest_nice, in
/// ticks. Guest time is included in user time.
fn parse_steal(stat: &str) -> Option<Ratio> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let total: u64 = ticks.iter().sum();
    (ticks.len() == 8 && 0 < total).then(|| Ratio(ticks[7] as f64 / total as f64))
}

fn status(files: &MachineFiles, key: &str) -> FieldValue {
    keyed(&files.text("/proc/self/status")?, key).map(str::to_owned).ok_or(NOT_REPORTED)
}

/// Reads a value of `/etc/os-release`, which may be quoted.
fn os_release(files: &MachineFiles, key: &str) -> FieldValue {
    assigned(&files.text("/etc/os-release")?, key).ok_or(Unavailable::because("not in the file"))
}

/// Returns the value assigned to a name in lines `NAME=value`, without quotes.
fn assigned(text: &str, key: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
}

/// Returns name, release and version of the kernel, as `uname` does, and the architecture if known.
fn kernel(files: &MachineFiles) -> FieldValue {
    let word = |file: &str| files.text(format!("/proc/sys/kernel/{file}"));
    let words = [word("ostype")?, word("osrelease")?, word("version")?, word("arch").unwrap_or_default()];
    Ok(words.join(" ").trim_end().to_owned())
}

/// Arguments after two hyphens are for the first process, not for the kernel.
fn of_the_kernel(command_line: &str) -> String {
    command_line.split(" -- ").next().unwrap_or(command_line).to_owned()
}

/// The build text names the preemption model: `#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1`.
fn preemption(version: &str) -> FieldValue {
    let words = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"];
    let known = version.split_ascii_whitespace().find(|word| words.contains(word));
    Ok(known.unwrap_or("none or voluntary").to_owned())
}

fn tick(files: &MachineFiles) -> FieldValue {
    let config = files.text(format!("/boot/config-{}", files.text("/proc/sys/kernel/osrelease")?))?;
    assigned(&config, "CONFIG_HZ").map(|hertz| hertz + " Hz").ok_or(NOT_REPORTED)
}

fn live_patches(files: &MachineFiles) -> FieldValue {
    if files.has("/sys/kernel/livepatch") {
        Ok(joined(&files.names("/sys/kernel/livepatch"), "").unwrap_or_else(|_| "none".to_owned()))
    } else {
        Err(Unavailable::Absent)
    }
}

/// Seconds since boot, and idle seconds summed over CPUs.
fn uptime(text: &str) -> FieldValue {
    let seconds: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).ok_or(NOT_REPORTED)?;
    Ok(format!("{:.1} h", seconds / 3600.0))
}

/// The first three words: over one, five and fifteen minutes.
fn load_average(loadavg: &str) -> FieldValue {
    Ok(loadavg.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

/// The fourth word: running processes, a slash, all processes.
fn processes(loadavg: &str) -> FieldValue {
    let all = loadavg.split(' ').nth(3).and_then(|word| Some(word.split_once('/')?.1));
    all.map(str::to_owned).ok_or(NOT_REPORTED)
}

/// Files that exist while a program synchronizes the clock.
const TIME_SYNC_PROGRAMS: &[(&str, &str)] = &[
    ("/run/systemd/timesync/synchronized", "systemd-timesyncd, synchronized"),
    ("/run/systemd/timesync", "systemd-timesyncd"),
    ("/run/chrony", "chrony"),
    ("/run/chronyd.pid", "chrony"),
    ("/run/ntpd.pid", "ntpd"),
    ("/run/ntpd.sock", "OpenNTPD"),
    ("/run/ptp4l", "ptp4l"),
];

fn time_sync(files: &MachineFiles) -> FieldValue {
    let keeper = TIME_SYNC_PROGRAMS.iter().find(|(path, _)| files.has(path));
    keeper.map(|(_, name)| (*name).to_owned()).ok_or(Unavailable::because("no such program found"))
}

fn time_zone(files: &MachineFiles) -> FieldValue {
    let target = files.link("/etc/localtime").and_then(|target| {
        let zone = target.split_once("zoneinfo/").map(|(_, zone)| zone.to_owned());
        zone.ok_or(Unavailable::because("not a link to a time zone"))
    });
    target.or_else(|_| files.text("/etc/timezone"))
}

fn locale(files: &MachineFiles) -> FieldValue {
    let text = files.text("/etc/default/locale").or_else(|_| files.text("/etc/locale.conf"))?;
    assigned(&text, "LANG").ok_or(Unavailable::because("not in the file"))
}

/// Lists the mounted versions of control groups.
fn cgroups(mounts: &str) -> String {
    let has = |kind: &str| mounts.lines().any(|line| line.split(' ').nth(2) == Some(kind));
    match (has("cgroup"), has("cgroup2")) {
        (true, true) => "versions 1 and 2 (hybrid)",
        (true, false) => "version 1",
        (false, true) => "version 2",
        (false, false) => "not mounted",
    }
    .to_owned()
}

/// Lists the enabled controllers: lines `name hierarchy groups enabled` after a header.
fn cgroup_controllers(text: &str) -> String {
    let on = text.lines().filter(|line| !line.starts_with('#') && line.ends_with('1'));
    on.filter_map(|line| line.split_ascii_whitespace().next()).collect::<Vec<_>>().join(" ")
}

/// In version 2, `max` or two numbers of microseconds, quota and period.
fn cgroup_quota(files: &MachineFiles) -> FieldValue {
    let group = files.text("/proc/self/cgroup")?;
    let own = group.lines().find_map(|line| line.strip_prefix("0::"));
    let own = own.ok_or(Unavailable::because("no version 2 group"))?.trim_end_matches('/');
    let text = files.text(format!("/sys/fs/cgroup{own}/cpu.max"))?;
    Ok(if text.starts_with("max") { "none".to_owned() } else { format!("{text} µs") })
}

/// Capabilities are bits; the kernel has 41 at present. Source: Linux, include/uapi/linux/capability.h.
fn capabilities(hex: &str) -> String {
    match u64::from_str_radix(hex, 16).map(u64::count_ones) {
        Ok(0) => "none".to_owned(),
        Ok(n) if 38 <= n => format!("all ({n})"),
        Ok(n) => format!("{n} ({hex})"),
        Err(_) => hex.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    #[test]
    fn steal_is_the_eighth_number() {
        // 100 ticks of 1000.
        let ratio = parse_steal("cpu  300 0 100 400 50 0 50 100 25 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(ratio, Ratio(0.1));
        for text in ["", "cpu  1 2 3\n", "cpu  0 0 0 0 0 0 0 0 0 0\n"] {
            assert_eq!(parse_steal(text), None);
        }
    }

    #[test]
    fn names_of_users_and_of_the_system_are_read() {
        let files = [
            ("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
            ("/proc/sys/kernel/ostype", "Linux\n"),
            ("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
            ("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n"),
            ("/boot/config-6.1.0-18-amd64", "# CONFIG_HZ_100 is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n"),
            ("/proc/self/status", "Uid:\t0\t1000\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n"),
            ("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nbroken\n"),
        ];
        testing::with(&files, |files| {
            assert_eq!(os_release(files, "PRETTY_NAME").unwrap(), "Debian GNU/Linux 12");
            assert!(os_release(files, "PRETTY").is_err());
            assert_eq!(kernel(files).unwrap(), "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1");
            assert_eq!(tick(files).unwrap(), "250 Hz");
            assert_eq!(user(files), Some((1000, "ada".into())));
            assert_eq!(capabilities(&status(files, "CapEff").unwrap()), "all (41)");
        });
        assert_eq!(name_of(7, "ada:x:1000:1000::/:/bin/sh"), None);
        assert_eq!(preemption("Linux version 5 (x) #1 SMP Debian").unwrap(), "none or voluntary");
        assert_eq!(capabilities("3"), "2 (3)");
        assert_eq!(of_the_kernel("quiet root=/dev/vda -- --verbose"), "quiet root=/dev/vda");
    }

    #[test]
    fn time_and_place_are_read() {
        let files = [
            ("/etc/localtime", "→/usr/share/zoneinfo/Europe/Berlin"),
            ("/etc/default/locale", "#  a remark\nLANG=de_DE.UTF-8\n"),
            ("/run/systemd/timesync/synchronized", ""),
        ];
        testing::with(&files, |files| {
            assert_eq!(time_zone(files).unwrap(), "Europe/Berlin");
            assert_eq!(locale(files).unwrap(), "de_DE.UTF-8");
            assert_eq!(time_sync(files).unwrap(), "systemd-timesyncd, synchronized");
        });
        assert!(testing::with(&[], time_sync).is_err());
        assert_eq!(uptime("35735.81 24786.98").unwrap(), "9.9 h");
        assert_eq!(
            (load_average("0.56 0.44 1.67 4/1145 28535"), processes("0.5 0.4 1.6 4/1145 2")),
            (Ok("0.56 0.44 1.67".into()), Ok("1145".into()))
        );
    }

    #[test]
    fn control_group_versions_are_determined_by_mounts() {
        let v1 = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n";
        let v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
        assert_eq!((cgroups(v1), cgroups(v2)), ("version 1".into(), "version 2".into()));
        assert_eq!(
            (cgroups(&format!("{v1}{v2}")), cgroups("")),
            ("versions 1 and 2 (hybrid)".into(), "not mounted".into())
        );
        let controllers =
            "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t3\t3\t1\nmemory\t0\t9\t0\ncpu\t1\t3\t1\n";
        assert_eq!(cgroup_controllers(controllers), "cpuset cpu");
        let files = [
            ("/proc/self/cgroup", "1:cpu:/\n0::/user.slice\n"),
            ("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n"),
        ];
        assert_eq!(testing::with(&files, cgroup_quota).unwrap(), "50000 100000 µs");
        let free = [("/proc/self/cgroup", "0::/\n"), ("/sys/fs/cgroup/cpu.max", "max 100000\n")];
        assert_eq!(testing::with(&free, cgroup_quota).unwrap(), "none");
    }
}
