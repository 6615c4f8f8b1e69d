//! Comparison of findings with the needs of a run.

use std::path::Path;

use units::{Bytes, Ratio};

use super::findings::MachineFindings;
use super::{Check, CheckState, DoctorInput};

/// Files that are open besides one connection per user: logs, the run file, epoll and timer descriptors.
const OPEN_FILES_BESIDES: u64 = 100;

/// Time that a connection closed first by this machine stays in TIME-WAIT. Source: Linux, `TCP_TIMEWAIT_LEN`,
/// not a setting.
const TIME_WAIT_S: f64 = 60.0;

/// Time after which TIME-WAIT may be reused on kernels without a setting for it. Source: Linux,
/// ip-sysctl.rst, `tcp_tw_reuse_delay`.
const REUSE_AFTER_MS: f64 = 1000.0;

/// Steal from which results of two runs cannot be expected to agree.
const STEAL_MAX: Ratio = Ratio(0.01);

/// Returns all checks, in the order in which they are shown.
pub(super) fn judge(input: &DoctorInput, found: &MachineFindings) -> Vec<Check> {
    let mut checks = vec![open_files(input, found)];
    checks.extend(local_ports(input, found));
    checks.extend(time_wait_entries(input, found));
    checks.extend(listen_queue(input, found));
    checks.push(governor(found));
    checks.push(clock(found));
    checks.extend(space("space for the run file", &input.run_dir, found.run_dir_free, input.run_file_bytes));
    if 0 < input.dataset_bytes {
        let name = "space for the file set";
        let directory = &input.dataset_dir;
        checks.extend(space(name, directory, found.dataset_dir_free, input.dataset_bytes));
    }
    checks.extend(private_folders_check(input, found));
    checks.push(shared_machine(input));
    if input.starts_server {
        checks.push(quota(found));
    }
    checks.extend(found.steal.map(steal));
    checks.extend(leftovers(found));
    checks
}

fn check(name: &'static str, state: CheckState, found: String, advice: &str) -> Check {
    let advice = if state == CheckState::Good { String::new() } else { advice.to_owned() };
    Check { name, state, found, advice }
}

fn open_files(input: &DoctorInput, found: &MachineFindings) -> Check {
    let needed = u64::from(input.users_max) + OPEN_FILES_BESIDES;
    let state = if needed <= found.open_files_max { CheckState::Good } else { CheckState::Bad };
    let text = format!(
        "{} allowed; {} users + {OPEN_FILES_BESIDES} = {needed} needed",
        found.open_files_max, input.users_max
    );
    check("open files", state, text, &format!("raise the hard limit: `ulimit -Hn {needed}`"))
}

/// Returns how long a port stays occupied after its connection, in seconds, if this machine closes first.
///
/// TIME-WAIT lasts 60 s; with `tcp_tw_reuse` (1: everywhere, 2: on loopback) and timestamps a new connection
/// may reuse the port after `tcp_tw_reuse_delay`. Source: Linux, ip-sysctl.rst.
fn port_held_s(input: &DoctorInput, found: &MachineFindings) -> f64 {
    let reuses = found.timestamps
        && match found.tw_reuse {
            Some(1) => true,
            Some(2) => input.shared,
            _ => false,
        };
    if reuses { found.tw_reuse_delay_ms.unwrap_or(REUSE_AFTER_MS) / 1000.0 } else { TIME_WAIT_S }
}

/// Compares ports with connections: p ports on each of a addresses, each occupied for h seconds after use,
/// allow a·p/h new connections per second to one address. If the server closes first, as in HTTP/1.0,
/// TIME-WAIT is on its side and does not count here.
fn local_ports(input: &DoctorInput, found: &MachineFindings) -> Option<Check> {
    let (first, last) = found.port_range?;
    let addresses = u64::from(input.source_addresses.max(1));
    let ports = (u64::from(last).saturating_sub(u64::from(first)) + 1) * addresses;
    let of = match addresses {
        1 => format!("{ports} ports ({first} to {last})"),
        n => format!("{ports} ports ({first} to {last} on each of {n} addresses)"),
    };
    let users = u64::from(input.users_max);
    if ports < users {
        let text = format!("{of} for {users} users at a time");
        return Some(check(
            "local ports",
            CheckState::Bad,
            text,
            &more_addresses(input, users as f64 / ports as f64),
        ));
    }
    if !input.connection_per_request {
        let text = format!("{of}; {users} connections are kept");
        return Some(check("local ports", CheckState::Good, text, ""));
    }
    let held = port_held_s(input, found);
    let rate_max = ports as f64 / held;
    let text = format!("{of} ÷ {held} s in TIME-WAIT = {rate_max:.0} connections/s");
    let Some(rate) = input.rate else {
        let state = if held < TIME_WAIT_S { CheckState::Good } else { CheckState::Warning };
        return Some(check(
            "local ports",
            state,
            format!("{text} where the client closes first"),
            REUSE_ADVICE,
        ));
    };
    let state = if rate <= rate_max { CheckState::Good } else { CheckState::Warning };
    let advice = if held < TIME_WAIT_S {
        more_addresses(input, rate / rate_max)
    } else {
        format!("{REUSE_ADVICE}, or {}", more_addresses(input, rate / rate_max))
    };
    Some(check("local ports", state, format!("{text}; {rate:.0}/s planned"), &advice))
}

/// Describes how to get `times` as many ports.
fn more_addresses(input: &DoctorInput, times: f64) -> String {
    let n = (f64::from(input.source_addresses.max(1)) * times).ceil().max(2.0);
    let example = if input.shared {
        format!("`--source-addresses 127.0.0.2,…,127.0.0.{}`; loopback has them all", n + 1.0)
    } else {
        "`--source-addresses`, with addresses that this machine has".to_owned()
    };
    format!("make connections from {n} local addresses ({example}), or widen `net.ipv4.ip_local_port_range`")
}

/// Entries in TIME-WAIT on the server: rate × 60 s, if it closes first. Above its limit the kernel drops
/// entries early, which SPECweb96's run rules do not allow. Source: RFC 9293 3.3.2; Linux, ip-sysctl.rst,
/// `tcp_max_tw_buckets`.
fn time_wait_entries(input: &DoctorInput, found: &MachineFindings) -> Option<Check> {
    let limit = found.tw_buckets_max?;
    let rate = input.rate?;
    if !input.connection_per_request || !input.shared {
        return None;
    }
    let entries = (rate * TIME_WAIT_S).ceil();
    let state = if entries <= limit as f64 { CheckState::Good } else { CheckState::Warning };
    let text =
        format!("{rate:.0}/s × {TIME_WAIT_S} s = {entries} where the server closes first; {limit} allowed");
    let advice = format!("raise the limit: `sysctl -w net.ipv4.tcp_max_tw_buckets={entries}`");
    Some(check("TIME-WAIT entries", state, text, &advice))
}

const REUSE_ADVICE: &str =
    "allow ports to be reused: `sysctl -w net.ipv4.tcp_tw_reuse=1 net.ipv4.tcp_timestamps=1`";

fn listen_queue(input: &DoctorInput, found: &MachineFindings) -> Option<Check> {
    let queue = found.somaxconn.filter(|_| input.shared)?;
    let users = u64::from(input.users_max);
    let state = if users <= queue { CheckState::Good } else { CheckState::Warning };
    let text = format!("net.core.somaxconn {queue}; up to {users} users may connect at once");
    Some(check(
        "listen queue",
        state,
        text,
        &format!("make the queue longer: `sysctl -w net.core.somaxconn={users}`"),
    ))
}

fn governor(found: &MachineFindings) -> Check {
    let text = match &found.governors[..] {
        [] => "not controlled by this kernel (virtual machine)".to_owned(),
        governors => governors.join(", "),
    };
    let steady = found.governors.iter().all(|governor| governor == "performance");
    let state = if steady { CheckState::Good } else { CheckState::Warning };
    check("frequency governor", state, text, "fix the frequency: `cpupower frequency-set -g performance`")
}

/// Clock sources that are read without entering the kernel.
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

fn clock(found: &MachineFindings) -> Check {
    let source = found.clock_source.as_deref().unwrap_or("unknown");
    let state = if FAST_CLOCKS.contains(&source) { CheckState::Good } else { CheckState::Warning };
    let advice = "each clock reading costs about 1 µs instead of 0.03, and a request needs several: boot with \
        `clocksource=tsc` if the processor's counter is steady";
    check("clock source", state, source.to_owned(), advice)
}

fn space(name: &'static str, directory: &Path, free: Option<u64>, needed: u64) -> Option<Check> {
    let free = free?;
    let state = match () {
        () if free < needed => CheckState::Bad,
        () if free / 2 < needed => CheckState::Warning,
        () => CheckState::Good,
    };
    let text = format!("{} free in {}; {} needed", Bytes(free), directory.display(), Bytes(needed));
    Some(check(name, state, text, "free space there, or name another directory"))
}

/// Checks whether the folders for servers and their files are private to this user, or can be created so.
fn private_folders_check(input: &DoctorInput, found: &MachineFindings) -> Option<Check> {
    if !input.starts_server {
        return None;
    }
    let wrong = found.private_folders.iter().find_map(|(_, wrong)| wrong.as_deref());
    match wrong {
        Some(wrong) => {
            let (text, advice) =
                wrong.split_once("\nhint: ").unwrap_or((wrong, "create a folder for this user there"));
            Some(check("own folders", CheckState::Bad, text.to_owned(), advice))
        }
        None if found.private_folders.is_empty() => None,
        None => {
            let names = found.private_folders.iter().map(|(path, _)| path.display().to_string());
            let text = format!("{}: private to this user", names.collect::<Vec<_>>().join(", "));
            Some(check("own folders", CheckState::Good, text, ""))
        }
    }
}

fn shared_machine(input: &DoctorInput) -> Check {
    let (state, text) = match (input.shared, input.separated) {
        (false, _) => (CheckState::Good, "the server is on another machine"),
        (true, true) => {
            (CheckState::Good, "server and load share this machine; each has its own share of the CPUs")
        }
        (true, false) => (CheckState::Warning, "server and load share this machine and its CPUs"),
    };
    let advice = "give each its own CPUs (`--sut-cpus`, `--load-cpus`) or the server a quota (`--sut-quota`)";
    check("shared machine", state, text.to_owned(), advice)
}

fn quota(found: &MachineFindings) -> Check {
    match &found.quota {
        Ok(how) => check("CPU quota", CheckState::Good, format!("possible: {how}"), ""),
        Err(why) => {
            let advice = "run as root, or in a delegated group: `systemd-run --user --scope -p Delegate=yes`";
            check("CPU quota", CheckState::Warning, format!("not possible: {why}"), advice)
        }
    }
}

fn steal(steal: Ratio) -> Check {
    let state = if steal <= STEAL_MAX { CheckState::Good } else { CheckState::Warning };
    let advice = "the host sometimes gives this machine's CPUs to other guests: repeat runs and compare";
    check("steal", state, format!("{steal} since the machine started"), advice)
}

fn leftovers(found: &MachineFindings) -> Option<Check> {
    if found.stale.is_empty() {
        return None;
    }
    let names: Vec<String> = found.stale.iter().map(|path| path.display().to_string()).collect();
    let advice = "the next run that starts a server removes them";
    Some(check("left by killed runs", CheckState::Warning, names.join(", "), advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Unavailable;

    fn input() -> DoctorInput {
        DoctorInput {
            users_max: 200,
            connection_per_request: true,
            rate: Some(4000.0),
            source_addresses: 1,
            shared: true,
            starts_server: true,
            separated: true,
            run_dir: "/tmp".into(),
            run_file_bytes: 30 << 20,
            work_dir: "/dev/shm".into(),
            dataset_dir: "/dev/shm".into(),
            dataset_bytes: 5_817_375,
        }
    }

    fn found() -> MachineFindings {
        MachineFindings {
            open_files_max: 20_000,
            port_range: Some((32_768, 60_999)),
            tw_reuse: Some(2),
            tw_reuse_delay_ms: None,
            timestamps: true,
            tw_buckets_max: Some(262_144),
            somaxconn: Some(4096),
            governors: Vec::new(),
            clock_source: Some("tsc".into()),
            run_dir_free: Some(1 << 30),
            dataset_dir_free: Some(1 << 30),
            steal: Some(Ratio(0.0)),
            quota: Ok("cgroup v1".into()),
            stale: Vec::new(),
            private_folders: vec![("/dev/shm/plimsoll-0".into(), None)],
        }
    }

    fn state(name: &str, input: &DoctorInput, found: &MachineFindings) -> (CheckState, String) {
        let checks = judge(input, found);
        let check = checks.iter().find(|check| check.name == name).expect(name);
        assert_eq!(check.state == CheckState::Good, check.advice.is_empty(), "{check:?}");
        (check.state, check.found.clone())
    }

    #[test]
    fn a_well_configured_machine_passes_all_checks() {
        for check in judge(&input(), &found()) {
            assert_eq!(check.state, CheckState::Good, "{check:?}");
        }
    }

    /// 60,999 − 32,768 + 1 = 28,232 ports. On loopback with tw_reuse 2 each is free again after 1 s:
    /// 28,232/s. To another machine, or without timestamps, only after 60 s: 470.5/s.
    #[test]
    fn ports_and_time_wait_bound_the_connection_rate() {
        let (good, text) = state("local ports", &input(), &found());
        assert_eq!(good, CheckState::Good);
        assert!(text.contains("28232 ports") && text.contains("÷ 1 s") && text.contains("= 28232"), "{text}");
        let far = DoctorInput { shared: false, rate: Some(1000.0), ..input() };
        let (bad, text) = state("local ports", &far, &found());
        assert_eq!(bad, CheckState::Warning);
        assert!(text.contains("÷ 60 s") && text.contains("= 471 connections/s; 1000/s planned"), "{text}");
        let everywhere = MachineFindings { tw_reuse: Some(1), ..found() };
        assert_eq!(state("local ports", &far, &everywhere).0, CheckState::Good);
        let no_timestamps = MachineFindings { timestamps: false, ..found() };
        assert_eq!(state("local ports", &input(), &no_timestamps).0, CheckState::Warning);
        let slower = MachineFindings { tw_reuse_delay_ms: Some(10_000.0), ..found() };
        assert_eq!(state("local ports", &input(), &slower).0, CheckState::Warning);
    }

    /// 28,232 ports on each of 3 addresses ÷ 60 s = 1411.6 connections/s.
    #[test]
    fn more_source_addresses_allow_more_connections() {
        let far = DoctorInput { shared: false, rate: Some(1400.0), ..input() };
        assert_eq!(state("local ports", &far, &found()).0, CheckState::Warning);
        let three = DoctorInput { source_addresses: 3, ..far };
        let (good, text) = state("local ports", &three, &found());
        assert_eq!(good, CheckState::Good);
        assert!(
            text.contains("84696 ports") && text.contains("3 addresses") && text.contains("= 1412"),
            "{text}"
        );
    }

    /// Golden check G22: 98,340 and 127,860 entries at 1639 and 2131 operations per second.
    #[test]
    fn time_wait_entries_are_the_rate_times_a_minute() {
        for (rate, entries) in [(1639.0, "98340"), (2131.0, "127860")] {
            let input = DoctorInput { rate: Some(rate), ..input() };
            let (good, text) = state("TIME-WAIT entries", &input, &found());
            assert!(good == CheckState::Good && text.contains(entries), "{text}");
        }
        let few = MachineFindings { tw_buckets_max: Some(65_536), ..found() };
        assert_eq!(state("TIME-WAIT entries", &input(), &few).0, CheckState::Warning);
    }

    #[test]
    fn kept_connections_need_one_port_each() {
        let kept = DoctorInput { connection_per_request: false, rate: None, users_max: 28_232, ..input() };
        assert_eq!(state("local ports", &kept, &found()).0, CheckState::Good);
        let more = DoctorInput { users_max: 28_233, ..kept };
        assert_eq!(state("local ports", &more, &found()).0, CheckState::Bad);
    }

    #[test]
    fn files_are_counted_per_user_with_a_reserve() {
        let at = |users_max| state("open files", &DoctorInput { users_max, ..input() }, &found()).0;
        assert_eq!((at(19_900), at(19_901)), (CheckState::Good, CheckState::Bad));
    }

    #[test]
    fn the_listen_queue_is_checked_only_on_the_servers_machine() {
        let many = DoctorInput { users_max: 5000, ..input() };
        assert_eq!(state("listen queue", &many, &found()).0, CheckState::Warning);
        let elsewhere = DoctorInput { shared: false, ..many };
        assert!(judge(&elsewhere, &found()).iter().all(|check| check.name != "listen queue"));
    }

    #[test]
    fn missing_space_is_bad_and_scarce_space_is_a_warning() {
        let at = |free| {
            let found = MachineFindings { run_dir_free: Some(free), ..found() };
            state("space for the run file", &input(), &found).0
        };
        assert_eq!(
            (at(29 << 20), at(31 << 20), at(60 << 20)),
            (CheckState::Bad, CheckState::Warning, CheckState::Good)
        );
    }

    #[test]
    fn a_folder_that_is_not_private_is_bad() {
        let wrong = "`/dev/shm/plimsoll-0` belongs to bob, expected root\nhint: remove it".to_owned();
        let folders = vec![("/var/tmp/plimsoll-0".into(), None), ("/dev/shm/plimsoll-0".into(), Some(wrong))];
        let found = MachineFindings { private_folders: folders, ..found() };
        let checks = judge(&input(), &found);
        let check = checks.iter().find(|check| check.name == "own folders").unwrap();
        assert_eq!(check.state, CheckState::Bad);
        assert_eq!(check.found, "`/dev/shm/plimsoll-0` belongs to bob, expected root");
        assert_eq!(check.advice, "remove it");
        let elsewhere = DoctorInput { starts_server: false, ..input() };
        let of_servers = ["own folders", "CPU quota"];
        assert!(judge(&elsewhere, &found).iter().all(|check| !of_servers.contains(&check.name)));
    }

    /// Goal: a family without files is not told that none of them has room.
    #[test]
    fn space_for_a_file_set_is_checked_only_if_there_is_one() {
        let has_check = |dataset_bytes| {
            let checks = judge(&DoctorInput { dataset_bytes, ..input() }, &found());
            checks.iter().any(|check| check.name == "space for the file set")
        };
        assert!(has_check(1) && !has_check(0));
    }

    #[test]
    fn settings_that_affect_results_are_warnings() {
        let odd = MachineFindings {
            governors: vec!["performance".into(), "powersave".into()],
            clock_source: Some("hpet".into()),
            steal: Some(Ratio(0.02)),
            quota: Err(Unavailable::because("no rights")),
            stale: vec!["/dev/shm/plimsoll-sut-1-0".into()],
            ..found()
        };
        let together = DoctorInput { separated: false, ..input() };
        for name in [
            "frequency governor",
            "clock source",
            "steal",
            "CPU quota",
            "shared machine",
            "left by killed runs",
        ] {
            assert_eq!(state(name, &together, &odd).0, CheckState::Warning, "{name}");
        }
    }
}
