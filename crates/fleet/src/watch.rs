//! Reading machines once a second, on the time axis of the load point.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use languages::{FOREIGN_CHARS_MAX, foreign_text, is_terminal_control, without_credentials};
use model::{MachineRole, MonitoredSource};
use observe::{
    LocalMachine, MonitorError, NetworkMachine, ProcessMeter, RemoteGroupSize, ResourceMonitor,
    ServiceStatus, THIS_MACHINE, WatchError, WatchedGroups, WatchedTargets, is_here,
};
use testbed::{RunningSut, start_program};
use units::{Clock, Nanos, RealClock};

use crate::error::FleetError;
use crate::family::ResolvedTarget;
use crate::reading::MonitorReading;
use crate::request::Monitoring;
use crate::wait::wait_until;

/// The period at which a machine is read.
const EVERY: Nanos = Nanos::from_secs(1);

/// A machine, or a service, that is read while load points run.
pub(crate) struct Watcher {
    /// Its name and role.
    pub(crate) machine: MonitoredSource,
    watch: Box<dyn ResourceMonitor>,
}

impl Watcher {
    fn new(name: &str, role: MachineRole, watch: Box<dyn ResourceMonitor>) -> Watcher {
        Watcher { machine: MonitoredSource { name: without_credentials(name), role }, watch }
    }

    /// Returns the groups of processes that were found on another machine.
    pub(crate) fn groups_there(&self) -> Vec<RemoteGroupSize> {
        self.watch.groups_there()
    }

    /// Reads once.
    fn read(&mut self) -> MonitorReading {
        let mut readings = Vec::new();
        self.watch.read(&mut readings)?;
        for reading in &mut readings {
            make_printable(&mut reading.instance);
        }
        Ok(readings)
    }

    /// Reads on every second after `origin` until `over` is set, and then once more. `tell` gets what was read and when,
    /// counted from `origin`.
    pub(crate) fn read_until(
        &mut self,
        over: &AtomicBool,
        clock: RealClock,
        origin: Nanos,
        mut tell: impl FnMut(Nanos, MonitorReading),
    ) {
        let mut due = origin;
        loop {
            let is_over = wait_until(due, clock, over);
            // When it is read and not when that is done: most of what is read is read at once.
            let at = clock.now().saturating_sub(origin);
            tell(at, self.read());
            if is_over {
                return;
            }
            while due <= clock.now() {
                due += EVERY;
            }
        }
    }
}

/// Makes a name that a machine sent fit to be stored and shown; most are already.
fn make_printable(name: &mut String) {
    if FOREIGN_CHARS_MAX < name.len() || name.contains(is_terminal_control) {
        *name = foreign_text(name);
    }
}

/// The monitors of a run, and what they say about processes that were there already.
#[derive(Default)]
pub(crate) struct Watchers {
    /// The monitors, in the order of their machines.
    pub(crate) all: Vec<Watcher>,
    /// The processes on this machine that this run did not start.
    pub(crate) targets: WatchedTargets,
    groups: WatchedGroups,
    /// The groups that are known: the names of their machines, and their labels.
    known: BTreeSet<(String, String)>,
    /// The meter of their CPU time, where they are the server.
    pub(crate) meter: Option<ProcessMeter>,
    /// The reason why the server's processes are not watched, although it is on this machine.
    pub(crate) unseen: Option<WatchError>,
}

impl Watchers {
    /// Begins to watch this machine with the server, if it is here, and the other machines. Each is read once, so that a
    /// run does not begin with a machine that cannot be read.
    ///
    /// # Errors
    /// A machine cannot be read, or selected processes cannot be found.
    pub(crate) fn begin(
        monitoring: &Monitoring,
        sut: Option<&RunningSut>,
        target: &ResolvedTarget,
    ) -> Result<Watchers, FleetError> {
        let Monitoring::On { others, watched } = monitoring else { return Ok(Watchers::default()) };
        let mut targets = WatchedTargets::select(watched)?;
        let external = target.address().filter(|address| sut.is_none() && is_here(address.ip()));
        let at_address = external.and_then(|address| targets.add_target(address).err());
        let at_socket = target.socket().and_then(|path| targets.add_target_socket(path).err());
        let unseen = at_address.or(at_socket);
        let groups = WatchedGroups::default();
        let mut all = here(sut, target, &targets, &groups);
        all.iter_mut().try_for_each(|watcher| watcher.read().map(drop))?;
        let n_here = all.len();
        let networks = target.address().map(|to| NetworkMachine::all(&groups, to.ip(), targets.loaded()));
        let networks = networks.into_iter().flatten();
        let (loaded, behind): (Vec<_>, Vec<_>) = networks.partition(NetworkMachine::is_loaded);
        // The first machine that has a counter is the server's.
        all.extend(loaded.into_iter().map(of_network));
        for (source, watched) in others {
            all.push(Watcher::new(source.machine(), MachineRole::Sut, source.watch(watched, start_program)?));
        }
        all.extend(behind.into_iter().map(of_network));
        all[n_here..].iter_mut().try_for_each(first_reading)?;
        // The first reading has counted the connections of servers on other machines; the next one looks for their back ends.
        // Those that a busy machine does not find by then are found during the run.
        for watcher in all.iter_mut().filter(|watcher| !watcher.groups_there().is_empty()) {
            let _ = first_reading(watcher);
        }
        let has_socket = target.socket().is_some() && targets.loaded().is_some();
        let is_metered = has_socket || external.is_some_and(|address| targets.has_server(address));
        let meter = is_metered.then(|| groups.meter());
        let mut watchers = Watchers { all, targets, groups, known: BTreeSet::new(), meter, unseen };
        watchers.new_back_ends();
        Ok(watchers)
    }

    /// Returns a sentence about each back end that was found since this was last asked.
    pub(crate) fn new_back_ends(&mut self) -> Vec<String> {
        let here = self.groups.processes().into_iter();
        let here = here.map(|(label, pids)| (THIS_MACHINE.to_owned(), label, "", pids.len()));
        let there = self.all.iter().flat_map(|watcher| {
            let groups = watcher.groups_there().into_iter();
            groups.map(|one| (watcher.machine.name.clone(), one.label, " on another machine", one.processes))
        });
        let known = &mut self.known;
        let new =
            here.chain(there).filter(|(machine, label, ..)| known.insert((machine.clone(), label.clone())));
        new.map(|(_, label, place, n)| back_end_text(&label, place, n)).collect()
    }

    /// Watches this machine and the server's own account of itself anew, after the server was reset.
    pub(crate) fn follow(&mut self, sut: &RunningSut, target: &ResolvedTarget) {
        if self.all.is_empty() {
            return;
        }
        let new = here(Some(sut), target, &self.targets, &self.groups);
        self.all.iter_mut().zip(new).for_each(|(watcher, new)| watcher.watch = new.watch);
    }
}

fn of_network(network: NetworkMachine) -> Watcher {
    Watcher::new(&network.name(), MachineRole::Sut, Box::new(network))
}

/// The most readings that are asked for before the run, until one is there.
const FIRST_READINGS_MAX: u32 = 5;

/// Reads a machine before the run. An answer that comes late, as on a busy machine, is not lost: the next reading has it.
fn first_reading(watcher: &mut Watcher) -> Result<(), MonitorError> {
    let mut reading = watcher.read();
    for _ in 1..FIRST_READINGS_MAX {
        if reading.is_ok() {
            break;
        }
        reading = watcher.read();
    }
    reading.map(drop)
}

fn back_end_text(label: &str, place: &str, n: usize) -> String {
    let processes = if n == 1 { "process" } else { "processes" };
    format!(
        "back end {}{place} ({n} {processes}) was found by the server’s connections to it, and is watched from then on",
        foreign_text(label)
    )
}

/// Returns what is watched on this machine; the same for the same server.
fn here(
    sut: Option<&RunningSut>,
    target: &ResolvedTarget,
    targets: &WatchedTargets,
    groups: &WatchedGroups,
) -> Vec<Watcher> {
    let address = target.address().map(|address| address.ip());
    let is_shared = sut.is_some() || address.is_none_or(is_here);
    let role = if is_shared { MachineRole::Both } else { MachineRole::Load };
    let watched = sut.map(RunningSut::watched);
    let status = watched.as_ref().and_then(ServiceStatus::new);
    let machine = LocalMachine::new(watched).watching(targets.clone()).sharing(groups.clone());
    let machine = match address {
        Some(address) => machine.toward(address),
        None => machine,
    };
    let mut watchers = vec![Watcher::new(THIS_MACHINE, role, Box::new(machine))];
    watchers.extend(
        status.map(|status| Watcher::new("the server's own account", MachineRole::Sut, Box::new(status))),
    );
    watchers.extend(
        target.monitor().map(|monitor| Watcher::new("the database's own account", MachineRole::Sut, monitor)),
    );
    watchers
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use model::{Counter, Reading, Secrets};

    use super::*;
    use crate::family::{ExternalDatabase, ExternalServer};

    /// Stands for an exporter that says what it likes.
    struct Hostile;

    impl ResourceMonitor for Hostile {
        fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
            for instance in ["\u{1b}[31msda\nerror: x".to_owned(), "x".repeat(10_000), "sda".to_owned()] {
                into.push(Reading::of(Counter::DiskReads, instance, 1));
            }
            Ok(())
        }
    }

    #[test]
    fn back_ends_are_told_in_words() {
        assert_eq!(
            back_end_text("socket=/run/fpm.sock", "", 5),
            "back end socket=/run/fpm.sock (5 processes) was found by the server’s connections to it, and is watched from \
             then on"
        );
        assert!(back_end_text("port=9000", "", 1).starts_with("back end port=9000 (1 process) was"));
    }

    /// A machine on which a back end is found by its second reading.
    #[derive(Default)]
    struct Elsewhere {
        n_readings: u32,
    }

    impl ResourceMonitor for Elsewhere {
        fn read(&mut self, _: &mut Vec<Reading>) -> Result<(), MonitorError> {
            self.n_readings += 1;
            Ok(())
        }

        fn groups_there(&self) -> Vec<RemoteGroupSize> {
            let group = |label: &str| RemoteGroupSize { label: label.to_owned(), processes: 2, read: 2 };
            let back_end = (1 < self.n_readings).then(|| group("socket=/run/\u{1b}[31m"));
            [group("port=80")].into_iter().chain(back_end).collect()
        }
    }

    /// A machine whose first answers are late.
    struct Late {
        n_late: u32,
    }

    impl ResourceMonitor for Late {
        fn read(&mut self, _: &mut Vec<Reading>) -> Result<(), MonitorError> {
            let Some(left) = self.n_late.checked_sub(1) else { return Ok(()) };
            self.n_late = left;
            Err(MonitorError { watched: "me@sut".to_owned(), reason: "no answer".to_owned() })
        }
    }

    #[test]
    fn a_machine_that_answers_late_is_read_and_one_that_never_does_is_an_error() {
        let reading = |n_late| {
            let late = Box::new(Late { n_late });
            first_reading(&mut Watcher::new("me@sut", MachineRole::Sut, late)).map_err(|error| error.reason)
        };
        assert_eq!((reading(0), reading(FIRST_READINGS_MAX - 1)), (Ok(()), Ok(())));
        assert_eq!(reading(FIRST_READINGS_MAX), Err("no answer".to_owned()));
    }

    /// Reported: of `mysql://…?socket=PATH`, what listened on the database's port was watched, which is another server where
    /// there are two.
    #[test]
    fn a_database_at_a_unix_socket_is_watched_at_its_socket() {
        let folder = tempfile::tempdir().unwrap();
        let mariadb = folder.path().join("mysqld.sock");
        let postgresql = folder.path().join(".s.PGSQL.5433");
        let _listeners = [&mariadb, &postgresql].map(|path| UnixListener::bind(path).unwrap());
        let directory = folder.path().display();
        for (path, text) in [
            (&mariadb, format!("mysql://me@/shop?socket={}", mariadb.display())),
            (&postgresql, format!("postgres://me@/shop?host={directory}&port=5433")),
        ] {
            let database: ExternalDatabase = text.parse().unwrap();
            let resolved = |server: ExternalServer| {
                let stop = AtomicBool::new(false);
                ResolvedTarget::resolve(&server, Secrets::default(), RealClock::start(), &stop).unwrap()
            };
            let target = resolved(ExternalServer::Database(database.clone()));
            assert_eq!((target.address(), target.socket()), (None, Some(path.as_path())));
            let target = resolved(ExternalServer::Sql(database));
            assert_eq!((target.address(), target.socket()), (None, Some(path.as_path())));
            let mut targets = WatchedTargets::default();
            targets.add_target_socket(target.socket().unwrap()).unwrap();
            let path = path.canonicalize().unwrap();
            assert_eq!(targets.loaded(), Some(&*format!("socket={}", path.display())));
        }
    }

    #[test]
    fn back_ends_on_another_machine_are_told_once_and_escaped() {
        let mut watcher = Watcher::new("me@sut", MachineRole::Sut, Box::<Elsewhere>::default());
        watcher.read().unwrap();
        let mut watchers = Watchers { all: vec![watcher], ..Watchers::default() };
        watchers.new_back_ends();
        watchers.all[0].read().unwrap();
        let told = watchers.new_back_ends();
        let expected = "back end socket=/run/\\u{1b}[31m on another machine (2 processes) was found";
        assert!(told.len() == 1 && told[0].starts_with(expected), "{told:?}");
        assert_eq!(watchers.new_back_ends(), [""; 0]);
    }

    #[test]
    fn names_that_a_machine_tells_are_escaped_and_bounded() {
        let mut watcher = Watcher::new("http://sut/?token=abc", MachineRole::Sut, Box::new(Hostile));
        assert_eq!(watcher.machine.name, "http://sut/?token=[redacted]");
        let names: Vec<String> = watcher.read().unwrap().into_iter().map(|one| one.instance).collect();
        assert_eq!((names[0].as_str(), names[2].as_str()), ("\\u{1b}[31msda\\nerror: x", "sda"));
        assert!(names[1].len() < 400, "{}", names[1]);
    }
}
