//! The operating system: what it is, how it was started, what it allows, and who we are.

use units::Ratio;

use super::memory::yes;
use super::tree::{Found, Tree, Unread, joined, keyed};
use super::{Reader, one};
use crate::system_file::read;

const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) const READERS: &[Reader] = &[
    one("system.distribution", |tree| os_release(tree, "PRETTY_NAME")),
    one("system.release", |tree| {
        tree.text("/etc/debian_version").or_else(|_| os_release(tree, "VERSION_ID"))
    }),
    one("system.kernel", kernel),
    one("system.architecture", |tree| tree.text("/proc/sys/kernel/arch")),
    one("system.build", |tree| tree.text("/proc/version")),
    one("system.preemption", |tree| preemption(&tree.text("/proc/version")?)),
    one("system.tick", tick),
    one("system.command-line", |tree| Ok(of_the_kernel(&tree.text("/proc/cmdline")?))),
    one("system.modules", |tree| Ok(tree.text("/proc/modules")?.lines().count().to_string())),
    one("system.tainted", |tree| tree.text("/proc/sys/kernel/tainted")),
    one("system.live-patches", live_patches),
    one("system.init", |tree| tree.text("/proc/1/comm")),
    one("system.uptime", |tree| uptime(&tree.text("/proc/uptime")?)),
    one("system.load", |tree| load_average(&tree.text("/proc/loadavg")?)),
    one("system.processes", |tree| processes(&tree.text("/proc/loadavg")?)),
    one("system.steal", |tree| {
        let ratio = parse_steal(&tree.text("/proc/stat")?).ok_or(NOT_TOLD)?;
        Ok(format!("{ratio} since the machine started"))
    }),
    one("system.pressure", |tree| {
        Ok(if tree.has("/proc/pressure/cpu") { "told" } else { "not told" }.to_owned())
    }),
    one("system.clock-source", |tree| tree.text(format!("{CLOCK}/current_clocksource"))),
    one("system.clock-sources", |tree| tree.text(format!("{CLOCK}/available_clocksource"))),
    one("system.time-sync", time_sync),
    one("system.time-zone", time_zone),
    one("system.locale", locale),
    one("system.cgroups", |tree| Ok(cgroups(&tree.text("/proc/mounts")?))),
    one("system.cgroup-controllers", |tree| Ok(cgroup_controllers(&tree.text("/proc/cgroups")?))),
    one("system.cgroup-quota", cgroup_quota),
    one("system.cpus-allowed", |tree| status(tree, "Cpus_allowed_list")),
    one("system.memory-nodes", |tree| status(tree, "Mems_allowed_list")),
    one("system.capabilities", |tree| Ok(capabilities(&status(tree, "CapEff")?))),
    one("system.seccomp", |tree| Ok(if status(tree, "Seccomp")? == "0" { "none" } else { "on" }.to_owned())),
    one("system.user", |tree| user(tree).map(|(_, name)| name).ok_or(NOT_TOLD)),
    one("system.machine-id", |tree| tree.text("/etc/machine-id")),
    one("system.boot-id", |tree| tree.text("/proc/sys/kernel/random/boot_id")),
    one("system.security-modules", |tree| tree.text("/sys/kernel/security/lsm")),
    one("system.selinux", |tree| {
        Ok(if tree.text("/sys/fs/selinux/enforce")? == "1" { "enforcing" } else { "permissive" }.to_owned())
    }),
    one("system.apparmor", |tree| tree.text("/sys/module/apparmor/parameters/enabled").map(|on| yes(&on))),
    one("system.lockdown", |tree| Ok(super::memory::chosen(&tree.text("/sys/kernel/security/lockdown")?))),
    one("system.fips", |tree| tree.text("/proc/sys/crypto/fips_enabled").map(|on| yes(&on))),
    one("system.tuning-profile", |tree| tree.text("/etc/tuned/active_profile")),
];

const NOT_TOLD: Unread = Unread::Because(std::borrow::Cow::Borrowed("the kernel does not tell"));

/// Returns the name of the user whose rights this process has; the number if it has no name.
pub fn user_name() -> String {
    name_of_user(rustix::process::geteuid().as_raw())
}

/// Returns the name of a user; the number if it has no name.
pub fn name_of_user(uid: u32) -> String {
    let users = read("/etc/passwd").unwrap_or_default();
    name_of(uid, &users).unwrap_or_else(|| uid.to_string())
}

/// Returns number and name of the user whose rights this process has.
pub fn user(tree: &Tree) -> Option<(u32, String)> {
    // Real, effective, saved, file system.
    let uid = status(tree, "Uid").ok()?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let users = tree.text("/etc/passwd").unwrap_or_default();
    Some((uid, name_of(uid, &users).unwrap_or_else(|| uid.to_string())))
}

fn name_of(uid: u32, passwd: &str) -> Option<String> {
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let of_uid = |fields: &Vec<&str>| fields.get(2).and_then(|field| field.parse().ok()) == Some(uid);
    fields.into_iter().find(of_uid).map(|fields| fields[0].to_owned())
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

fn status(tree: &Tree, key: &str) -> Found {
    keyed(&tree.text("/proc/self/status")?, key).map(str::to_owned).ok_or(NOT_TOLD)
}

/// Reads a value of `/etc/os-release`, which may stand in quotes.
fn os_release(tree: &Tree, key: &str) -> Found {
    assigned(&tree.text("/etc/os-release")?, key).ok_or(Unread::because("the file does not say"))
}

/// Returns what is assigned to a name in a text of lines `NAME=value`, without quotes.
fn assigned(text: &str, key: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
}

/// Returns name, release and version of the kernel, as `uname` does, and the architecture where it is told.
fn kernel(tree: &Tree) -> Found {
    let word = |file: &str| tree.text(format!("/proc/sys/kernel/{file}"));
    let words = [word("ostype")?, word("osrelease")?, word("version")?, word("arch").unwrap_or_default()];
    Ok(words.join(" ").trim_end().to_owned())
}

/// What stands behind two hyphens is not for the kernel but for the first process.
fn of_the_kernel(command_line: &str) -> String {
    command_line.split(" -- ").next().unwrap_or(command_line).to_owned()
}

/// The build's text names the model: `#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1`.
fn preemption(version: &str) -> Found {
    let words = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"];
    let known = version.split_ascii_whitespace().find(|word| words.contains(word));
    Ok(known.unwrap_or("none or voluntary").to_owned())
}

fn tick(tree: &Tree) -> Found {
    let config = tree.text(format!("/boot/config-{}", tree.text("/proc/sys/kernel/osrelease")?))?;
    assigned(&config, "CONFIG_HZ").map(|hertz| hertz + " Hz").ok_or(NOT_TOLD)
}

fn live_patches(tree: &Tree) -> Found {
    match tree.has("/sys/kernel/livepatch") {
        false => Err(Unread::Absent),
        true => Ok(joined(&tree.names("/sys/kernel/livepatch"), "").unwrap_or_else(|_| "none".to_owned())),
    }
}

/// Seconds since the start, and seconds of idle CPUs.
fn uptime(text: &str) -> Found {
    let seconds: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).ok_or(NOT_TOLD)?;
    Ok(format!("{:.1} h", seconds / 3600.0))
}

/// The first three words: over one, five and fifteen minutes.
fn load_average(loadavg: &str) -> Found {
    Ok(loadavg.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

/// The fourth word: those that run, a slash, all.
fn processes(loadavg: &str) -> Found {
    let all = loadavg.split(' ').nth(3).and_then(|word| Some(word.split_once('/')?.1));
    all.map(str::to_owned).ok_or(NOT_TOLD)
}

/// What runs where a program keeps the clock right.
const TIME_KEEPERS: &[(&str, &str)] = &[
    ("/run/systemd/timesync/synchronized", "systemd-timesyncd, synchronized"),
    ("/run/systemd/timesync", "systemd-timesyncd"),
    ("/run/chrony", "chrony"),
    ("/run/chronyd.pid", "chrony"),
    ("/run/ntpd.pid", "ntpd"),
    ("/run/ntpd.sock", "OpenNTPD"),
    ("/run/ptp4l", "ptp4l"),
];

fn time_sync(tree: &Tree) -> Found {
    let keeper = TIME_KEEPERS.iter().find(|(path, _)| tree.has(path));
    keeper.map(|(_, name)| (*name).to_owned()).ok_or(Unread::because("no program for it was found"))
}

fn time_zone(tree: &Tree) -> Found {
    let target = tree.link("/etc/localtime").and_then(|target| {
        let zone = target.split_once("zoneinfo/").map(|(_, zone)| zone.to_owned());
        zone.ok_or(Unread::because("not a link to a zone"))
    });
    target.or_else(|_| tree.text("/etc/timezone"))
}

fn locale(tree: &Tree) -> Found {
    let text = tree.text("/etc/default/locale").or_else(|_| tree.text("/etc/locale.conf"))?;
    assigned(&text, "LANG").ok_or(Unread::because("the file does not say"))
}

/// Says which versions of control groups are mounted.
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

/// Lists the controllers that are on: lines `name hierarchy groups enabled` behind a head.
fn cgroup_controllers(text: &str) -> String {
    let on = text.lines().filter(|line| !line.starts_with('#') && line.ends_with('1'));
    on.filter_map(|line| line.split_ascii_whitespace().next()).collect::<Vec<_>>().join(" ")
}

/// Of version 2 `max` or two numbers of microseconds, quota and period.
fn cgroup_quota(tree: &Tree) -> Found {
    let group = tree.text("/proc/self/cgroup")?;
    let own = group.lines().find_map(|line| line.strip_prefix("0::"));
    let own = own.ok_or(Unread::because("no group of version 2"))?.trim_end_matches('/');
    let text = tree.text(format!("/sys/fs/cgroup{own}/cpu.max"))?;
    Ok(if text.starts_with("max") { "none".to_owned() } else { format!("{text} µs") })
}

/// Capabilities are bits; the kernel has 41 by now. Source: Linux, include/uapi/linux/capability.h.
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
    use super::super::tree::fake;
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
        fake::with(&files, |tree| {
            assert_eq!(os_release(tree, "PRETTY_NAME").unwrap(), "Debian GNU/Linux 12");
            assert!(os_release(tree, "PRETTY").is_err());
            assert_eq!(kernel(tree).unwrap(), "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1");
            assert_eq!(tick(tree).unwrap(), "250 Hz");
            assert_eq!(user(tree), Some((1000, "ada".into())));
            assert_eq!(capabilities(&status(tree, "CapEff").unwrap()), "all (41)");
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
        fake::with(&files, |tree| {
            assert_eq!(time_zone(tree).unwrap(), "Europe/Berlin");
            assert_eq!(locale(tree).unwrap(), "de_DE.UTF-8");
            assert_eq!(time_sync(tree).unwrap(), "systemd-timesyncd, synchronized");
        });
        assert!(fake::with(&[], time_sync).is_err());
        assert_eq!(uptime("35735.81 24786.98").unwrap(), "9.9 h");
        assert_eq!(
            (load_average("0.56 0.44 1.67 4/1145 28535"), processes("0.5 0.4 1.6 4/1145 2")),
            (Ok("0.56 0.44 1.67".into()), Ok("1145".into()))
        );
    }

    #[test]
    fn control_groups_are_told_by_what_is_mounted() {
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
        assert_eq!(fake::with(&files, cgroup_quota).unwrap(), "50000 100000 µs");
        let free = [("/proc/self/cgroup", "0::/\n"), ("/sys/fs/cgroup/cpu.max", "max 100000\n")];
        assert_eq!(fake::with(&free, cgroup_quota).unwrap(), "none");
    }
}
