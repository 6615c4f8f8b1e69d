//! This machine, and the system under test on it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use model::{Counter, Reading};

use super::kernel::interfaces::parse_speed;
use super::kernel::processor::parse_frequency;
use super::kernel::{PROC_FILES, Parse};
use super::netlink::Netlink;
use super::others::OtherPrograms;
use super::programs::Programs;
use super::sut::WatchedSut;
use super::{Watch, WatchError};
use crate::inventory::interface_to;
use crate::system_file::{self, Reread};

/// What series call this machine.
pub const THIS_MACHINE: &str = "this machine";

/// The speed of a link hardly ever changes, and some drivers ask the card for it: it is looked up once a minute.
const SPEED_READINGS: u32 = 60;

/// This machine, read from the files of its kernel.
///
/// Files and sockets are opened by the first reading: what belongs to a network namespace is that of the thread which
/// makes it. Files that are not there then are left out from then on.
#[derive(Debug)]
pub struct LocalMachine {
    sut: Option<WatchedSut>,
    /// Where the load goes.
    target: Option<IpAddr>,
    open: Option<Open>,
    buffer: Vec<u8>,
}

impl LocalMachine {
    /// Makes a monitor of this machine and, if there is one on it, of the system under test.
    pub fn new(sut: Option<WatchedSut>) -> LocalMachine {
        LocalMachine { sut, target: None, open: None, buffer: Vec::new() }
    }

    /// Says where the load goes, so that the interface on its way is told.
    pub fn toward(self, target: IpAddr) -> LocalMachine {
        LocalMachine { target: Some(target), ..self }
    }
}

impl Watch for LocalMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), WatchError> {
        let before = into.len();
        let open = self.open.get_or_insert_with(|| Open::new(self.sut.as_ref(), self.target));
        open.read(&mut self.buffer, into);
        if into.len() == before {
            let reason = "nothing can be read from /proc".to_owned();
            return Err(WatchError { watched: THIS_MACHINE.to_owned(), reason });
        }
        into.push(Reading::new(Counter::MonitorCpu, units::thread_cpu().0 / 1000));
        Ok(())
    }
}

/// Everything that stays open from one reading to the next.
#[derive(Debug)]
struct Open {
    files: Vec<(Reread, Parse)>,
    /// With the number of the CPU.
    frequencies: Vec<(Reread, String)>,
    speeds: Vec<Reading>,
    readings: u32,
    ports: Vec<u16>,
    /// The interface on the way to the server.
    route: Option<String>,
    netlink: Netlink,
    programs: Option<Programs>,
    others: OtherPrograms,
}

impl Open {
    fn new(sut: Option<&WatchedSut>, target: Option<IpAddr>) -> Open {
        let of_machine = PROC_FILES.iter().map(|(path, parse)| (PathBuf::from(path), *parse));
        let of_sut = sut.map(WatchedSut::group_files).unwrap_or_default();
        let open = |(path, parse): (PathBuf, Parse)| Some((Reread::open(path).ok()?, parse));
        Open {
            files: of_machine.chain(of_sut).filter_map(open).collect(),
            frequencies: frequencies(),
            speeds: Vec::new(),
            readings: 0,
            ports: sut.map(|sut| sut.ports.clone()).unwrap_or_default(),
            route: target.and_then(interface_to),
            netlink: Netlink::default(),
            programs: sut.map(Programs::new),
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
        self.netlink.read(&self.ports, into);
        let server = self.programs.as_mut().map(|programs| programs.read(into)).unwrap_or_default();
        self.others.read(&server, into);
    }
}

fn frequencies() -> Vec<(Reread, String)> {
    let found = entries("/sys/devices/system/cpu").filter_map(|(name, path)| {
        let cpu = name.strip_prefix("cpu").filter(|cpu| cpu.parse::<u32>().is_ok())?;
        Some((Reread::open(path.join("cpufreq/scaling_cur_freq")).ok()?, cpu.to_owned()))
    });
    found.collect()
}

fn speeds() -> Vec<Reading> {
    let mut speeds = Vec::new();
    for (name, path) in entries("/sys/class/net") {
        if let Some(text) = system_file::read(path.join("speed")) {
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

    fn watched() -> WatchedSut {
        WatchedSut { leaders: vec![std::process::id()], ..WatchedSut::default() }
    }

    /// Goal: on any Linux machine each area tells something. What a kernel may lack is not asked for: pressure,
    /// frequencies, speeds, disks, netlink.
    #[test]
    fn this_machine_tells_about_every_area() {
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

    /// Goal: what the load does not pass cannot be taken for its bottleneck. An address that leads nowhere has no way.
    #[test]
    fn the_way_to_the_server_is_told() {
        let route = |machine: LocalMachine| {
            let (mut machine, mut readings) = (machine, Vec::new());
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
        let (mut first, mut second) = (Vec::new(), Vec::new());
        machine.read(&mut first).unwrap();
        machine.read(&mut second).unwrap();
        for counter in [Counter::ContextSwitches, Counter::Interrupts, Counter::MonitorCpu, Counter::CpuUser]
        {
            let of = |readings: &[Reading]| readings.iter().find(|one| one.counter == counter).unwrap().value;
            assert!(of(&first) <= of(&second), "{counter}");
        }
    }

    /// Goal: watching costs less than 0.3 % of a core, that is 3 ms a second. CPU time, so other work does not matter.
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
