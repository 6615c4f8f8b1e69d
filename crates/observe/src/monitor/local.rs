//! The monitor of this machine, and of the system under test on it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use model::{Counter, Reading};

use super::kernel::interfaces::parse_speed;
use super::kernel::processor::parse_frequency;
use super::kernel::{PROC_FILES, Parse};
use super::netlink::{ListenerChoice, Netlink};
use super::others::OtherPrograms;
use super::owned_sockets::OwnedSockets;
use super::processes::{WatchedGroups, WatchedProcesses};
use super::sut::MonitoredSut;
use super::{MonitorError, ResourceMonitor};
use crate::inventory::interface_to;
use crate::kernel_file::{self, KernelFile};
use crate::watch::{ProcessGroup, WatchedTargets};

/// The name of this machine in series.
pub const THIS_MACHINE: &str = "this machine";

/// Link speeds hardly ever change, and some drivers query the card for them: they are read once a minute.
const SPEED_READINGS: u32 = 60;

/// A monitor of this machine that reads its kernel files.
///
/// The first reading opens files and sockets, in the network namespace of its thread. Files that do not exist
/// then are not tried again.
#[derive(Debug)]
pub struct LocalMachine {
    sut: Option<MonitoredSut>,
    /// Processes that were there already.
    watched: WatchedTargets,
    shared: WatchedGroups,
    /// Address that the load goes to.
    target: Option<IpAddr>,
    open: Option<OpenFiles>,
    buffer: Vec<u8>,
}

impl LocalMachine {
    /// Creates a monitor of this machine and, if there is one on it, of the system under test.
    pub fn new(sut: Option<MonitoredSut>) -> LocalMachine {
        LocalMachine {
            sut,
            watched: WatchedTargets::default(),
            shared: WatchedGroups::default(),
            target: None,
            open: None,
            buffer: Vec::new(),
        }
    }

    /// Adds processes to watch that were there already.
    pub fn watching(self, watched: WatchedTargets) -> LocalMachine {
        LocalMachine { watched, ..self }
    }

    /// Shares what other threads may know of the processes that are watched.
    pub fn sharing(self, groups: WatchedGroups) -> LocalMachine {
        LocalMachine { shared: groups, ..self }
    }

    fn process_groups(&self) -> Vec<ProcessGroup> {
        let started =
            self.sut.as_ref().map(|sut| ProcessGroup::started(sut.group.clone(), sut.leaders.clone()));
        started.into_iter().chain(self.watched.groups()).collect()
    }

    /// Sets the address that the load goes to, so that the interface on the route is reported.
    pub fn toward(self, target: IpAddr) -> LocalMachine {
        LocalMachine { target: Some(target), ..self }
    }
}

impl ResourceMonitor for LocalMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        let before = into.len();
        let opened = self.open.take().unwrap_or_else(|| {
            let processes = WatchedProcesses::new(self.process_groups(), self.shared.clone());
            OpenFiles::new(self.sut.as_ref(), self.target, processes)
        });
        let open = self.open.insert(opened);
        open.read(&mut self.buffer, into);
        if into.len() == before {
            let reason = "nothing can be read from /proc".to_owned();
            return Err(MonitorError { watched: THIS_MACHINE.to_owned(), reason });
        }
        into.push(Reading::new(Counter::MonitorCpu, units::thread_cpu().0 / 1000));
        Ok(())
    }
}

/// Files and sockets that stay open between readings.
#[derive(Debug)]
struct OpenFiles {
    files: Vec<(KernelFile, Parse)>,
    /// Frequency files, with CPU numbers.
    frequencies: Vec<(KernelFile, String)>,
    speeds: Vec<Reading>,
    readings: u32,
    ports: Vec<u16>,
    /// The interface on the route to the server.
    route: Option<String>,
    netlink: Netlink,
    sockets: OwnedSockets,
    processes: WatchedProcesses,
    others: OtherPrograms,
}

impl OpenFiles {
    fn new(sut: Option<&MonitoredSut>, target: Option<IpAddr>, processes: WatchedProcesses) -> OpenFiles {
        let of_machine = PROC_FILES.iter().map(|(path, parse)| (PathBuf::from(path), *parse));
        let open = |(path, parse): (PathBuf, Parse)| Some((KernelFile::open(path).ok()?, parse));
        OpenFiles {
            files: of_machine.filter_map(open).collect(),
            frequencies: frequencies(),
            speeds: Vec::new(),
            readings: 0,
            ports: sut.map(|sut| sut.ports.clone()).unwrap_or_default(),
            route: target.and_then(interface_to),
            netlink: Netlink::default(),
            sockets: OwnedSockets::default(),
            processes,
            others: OtherPrograms::default(),
        }
    }

    fn read(&mut self, buffer: &mut Vec<u8>, into: &mut Vec<Reading>) {
        for (file, parse) in &self.files {
            if let Some(text) = file.text_in(buffer) {
                parse(&text, into);
            }
        }
        for (file, cpu) in &self.frequencies {
            if let Some(text) = file.text_in(buffer) {
                parse_frequency(cpu, &text, into);
            }
        }
        if self.readings.is_multiple_of(SPEED_READINGS) {
            self.speeds = speeds();
        }
        self.readings = self.readings.wrapping_add(1);
        into.extend_from_slice(&self.speeds);
        into.extend(self.route.iter().map(|interface| Reading::of(Counter::NetRoute, interface.clone(), 1)));
        let server = self.processes.read(buffer, into);
        self.read_sockets(into);
        self.others.read(&server, into);
    }
}

impl OpenFiles {
    /// Reads the listening sockets of the server; without one, all of this machine.
    fn read_sockets(&mut self, into: &mut Vec<Reading>) {
        if !self.processes.has_groups() {
            return self.netlink.read(&ListenerChoice::All, Vec::new, into);
        }
        self.sockets.update(&self.processes.holders(), &mut self.netlink);
        let choice = ListenerChoice::Of { ports: &self.ports, owned: &self.sockets.owned };
        self.netlink.read(&choice, || self.processes.groups_here(), into);
        self.processes.watch_back_ends(self.netlink.services());
    }
}

fn frequencies() -> Vec<(KernelFile, String)> {
    let found = entries("/sys/devices/system/cpu").filter_map(|(name, path)| {
        let cpu = name.strip_prefix("cpu").filter(|cpu| cpu.parse::<u32>().is_ok())?;
        Some((KernelFile::open(path.join("cpufreq/scaling_cur_freq")).ok()?, cpu.to_owned()))
    });
    found.collect()
}

fn speeds() -> Vec<Reading> {
    let mut speeds = Vec::new();
    for (name, path) in entries("/sys/class/net") {
        if let Some(text) = kernel_file::read(path.join("speed")) {
            parse_speed(&name, &text, &mut speeds);
        }
    }
    speeds
}

fn entries(directory: impl AsRef<Path>) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
}

#[cfg(test)]
mod tests {
    use units::{Nanos, thread_cpu};

    use super::*;

    fn watched() -> MonitoredSut {
        MonitoredSut { leaders: vec![std::process::id()], ..MonitoredSut::default() }
    }

    /// Goal: any Linux machine reports counters of each area. Areas that a kernel may lack are not required:
    /// pressure, frequencies, speeds, disks, netlink.
    #[test]
    fn this_machine_reports_every_area() {
        let mut machine = LocalMachine::new(Some(watched()));
        let mut readings = Vec::new();
        machine.read(&mut readings).unwrap();
        for counter in [
            Counter::CpuUser,
            Counter::ContextSwitches,
            Counter::Runnable,
            Counter::OpenFiles,
            Counter::MemoryTotal,
            Counter::PagedIn,
            Counter::MajorFaults,
            Counter::TcpSegmentsSent,
            Counter::ListenOverflows,
            Counter::TcpTimeWait,
            Counter::SutCpu,
            Counter::SutProcesses,
            Counter::ProcessCpu,
            Counter::MonitorCpu,
        ] {
            assert!(readings.iter().any(|reading| reading.counter == counter), "{counter} is missing");
        }
    }

    /// Goal: an interface that the load does not use cannot be taken for its bottleneck. An unreachable
    /// address has no interface.
    #[test]
    fn the_interface_to_the_server_is_reported() {
        let route = |machine: LocalMachine| {
            let mut machine = machine;
            let mut readings = Vec::new();
            machine.read(&mut readings).unwrap();
            let routes = readings.iter().filter(|reading| reading.counter == Counter::NetRoute);
            routes.map(|reading| (reading.instance.clone(), reading.value)).collect::<Vec<_>>()
        };
        let toward = |address: &str| LocalMachine::new(None).toward(address.parse().unwrap());
        assert_eq!(route(toward("127.0.0.1")), [("lo".to_owned(), 1)]);
        assert_eq!(route(toward("::1")), [("lo".to_owned(), 1)]);
        assert_eq!(route(LocalMachine::new(None)), []);
    }

    #[test]
    fn every_series_is_read_once() {
        let mut readings = Vec::new();
        LocalMachine::new(Some(watched())).read(&mut readings).unwrap();
        let mut series: Vec<_> =
            readings.iter().map(|reading| (reading.counter, &reading.instance)).collect();
        series.sort_unstable();
        let repeated = series.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(repeated, None);
    }

    #[test]
    fn totals_only_grow() {
        let mut machine = LocalMachine::new(None);
        let mut first = Vec::new();
        let mut second = Vec::new();
        machine.read(&mut first).unwrap();
        machine.read(&mut second).unwrap();
        for counter in [Counter::ContextSwitches, Counter::Interrupts, Counter::MonitorCpu, Counter::CpuUser]
        {
            let of = |readings: &[Reading]| readings.iter().find(|one| one.counter == counter).unwrap().value;
            assert!(of(&first) <= of(&second), "{counter}");
        }
    }

    /// Goal: monitoring costs less than 0.3 % of a core, that is 3 ms per second. Measured in CPU time, so
    /// that other work does not matter.
    #[test]
    fn a_reading_costs_less_than_three_milliseconds() {
        const READINGS: u64 = 50;
        let mut machine = LocalMachine::new(Some(watched()));
        let mut readings = Vec::new();
        machine.read(&mut readings).unwrap();
        let before = thread_cpu();
        for _ in 0..READINGS {
            readings.clear();
            machine.read(&mut readings).unwrap();
        }
        let each = Nanos((thread_cpu() - before).0 / READINGS);
        println!("{} readings, {each} of CPU", readings.len());
        assert!(each < Nanos::from_millis(3), "{each} per reading");
    }
}
