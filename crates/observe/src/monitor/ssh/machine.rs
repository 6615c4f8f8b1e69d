//! A machine whose kernel files are read through `ssh`.
//!
//! | connection | a reading | then |
//! |---|---|---|
//! | connected | requests, waits for the answer | connected |
//! | connected, but the answer is late | reports it | connected; the late answer is discarded |
//! | ended | reports the reason | backing off |
//! | backing off | reports the reason | backing off for 0, 1, 3, 7, 15, then 30 readings, then reconnecting |
//! | reconnecting | requests, waits for the answer | connected; or ended, with longer backoff |

use std::fmt::Display;

use model::Reading;

use super::account::SshAccount;
use super::processes::RemoteProcesses;
use super::script::{ANSWERS_MAX, Files, answer_in, end_line, read_answer, script};
use super::ssh_connection::{SshConnection, SshConnectionError, SshOptions};
use crate::monitor::{MonitorError, PROC_FILES, RemoteGroupSize, ResourceMonitor};
use crate::program::StartProgram;
use crate::watch::ProcessSelector;

/// A Linux machine that is reachable by `ssh` without prompts; nothing is installed there.
///
/// One `ssh` process runs as long as the value lives; if it ends, another is started at one of the next
/// readings.
#[derive(Debug)]
pub struct SshMachine {
    account: SshAccount,
    options: SshOptions,
    start: StartProgram,
    files: &'static Files,
    connection: SshConnection,
    /// Number of the last request.
    asked: u64,
    /// Number of the last answer.
    answered: u64,
    back_off: Backoff,
    /// The processes that are watched there.
    processes: RemoteProcesses,
}

/// The maximum backoff between two connections, in readings, which are seconds.
const REST_MAX: u32 = 30;

/// Backoff after a connection has ended.
#[derive(Debug, Default)]
struct Backoff {
    /// Number of connections in a row that ended.
    ended: u32,
    /// Number of readings left.
    rest: u32,
    /// The reason why the last one ended.
    why: String,
}

impl Backoff {
    fn begin(&mut self, why: &SshConnectionError) {
        self.rest = 2_u32.saturating_pow(self.ended).saturating_sub(1).min(REST_MAX);
        self.ended = self.ended.saturating_add(1);
        self.why = why.to_string();
    }
}

impl SshMachine {
    /// Connects, and waits for a first answer.
    ///
    /// # Errors
    /// `ssh` cannot be started, is refused or gets no answer in time, or the other machine has none of the
    /// kernel files.
    pub fn connect(
        account: SshAccount,
        options: SshOptions,
        start: StartProgram,
    ) -> Result<SshMachine, MonitorError> {
        SshMachine::reading(PROC_FILES, account, options, start)
    }

    /// Watches processes there, too, and looks for them.
    ///
    /// # Errors
    /// Some of them are not found, or that account may not see them.
    pub fn watching(self, selectors: &[ProcessSelector]) -> Result<SshMachine, MonitorError> {
        let mut machine = SshMachine { processes: RemoteProcesses::new(selectors), ..self };
        if selectors.is_empty() {
            return Ok(machine);
        }
        machine.ask(&mut Vec::new()).map_err(|error| machine.error(error))?;
        machine.processes.missing().map_err(|error| machine.error(error))?;
        Ok(machine)
    }

    fn reading(
        files: &'static Files,
        account: SshAccount,
        options: SshOptions,
        start: StartProgram,
    ) -> Result<SshMachine, MonitorError> {
        let fail = |error: SshConnectionError| {
            let hint = format!("hint: `ssh -o BatchMode=yes {account} true` must work without prompts");
            MonitorError { watched: account.to_string(), reason: format!("{error}\n{hint}") }
        };
        let mut connection = begin(&account, &options, start, files).map_err(fail)?;
        let within = connection.within(options.connect_time);
        let printed = connection.receive(&end_line(1), within).map_err(fail)?;
        let mut readings = Vec::new();
        read_answer(&printed, 1, files, &mut readings);
        if readings.is_empty() {
            let reason = "expected a readable Linux `/proc`, found none".to_owned();
            return Err(MonitorError { watched: account.to_string(), reason });
        }
        let back_off = Backoff::default();
        let processes = RemoteProcesses::new(&[]);
        Ok(SshMachine {
            account,
            options,
            start,
            files,
            connection,
            asked: 1,
            answered: 1,
            back_off,
            processes,
        })
    }

    /// Requests an answer, over a new connection if the last one has ended and backed off. The first answer
    /// over a new connection may be late, like any other: later readings wait for it.
    fn ask_or_reconnect(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        if self.connection.is_over() {
            if let Some(rest) = self.back_off.rest.checked_sub(1) {
                self.back_off.rest = rest;
                return Err(self.error(&self.back_off.why));
            }
            let begun = begin(&self.account, &self.options, self.start, self.files);
            self.connection = begun.map_err(|error| self.ended(&error))?;
            (self.asked, self.answered) = (1, 0);
        }
        match self.ask(into) {
            Ok(()) => {
                self.back_off.ended = 0;
                Ok(())
            }
            Err(error) if self.connection.is_over() => Err(self.ended(&error)),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Backs off after a connection has ended, and returns why it has.
    fn ended(&mut self, why: &SshConnectionError) -> MonitorError {
        self.back_off.begin(why);
        self.error(why)
    }

    fn error(&self, reason: impl Display) -> MonitorError {
        MonitorError { watched: self.account.to_string(), reason: reason.to_string() }
    }

    /// Requests an answer, and appends it. A late answer is discarded, because it describes the past.
    fn ask(&mut self, into: &mut Vec<Reading>) -> Result<(), SshConnectionError> {
        let within = self.connection.within(self.options.answer_time);
        if self.answered < self.asked {
            self.connection.receive(&end_line(self.asked), within)?;
            self.answered = self.asked;
        }
        let question = self.processes.question();
        self.connection.send(&format!("{question}\n"))?;
        self.asked += 1;
        let printed = self.connection.receive(&end_line(self.asked), within)?;
        self.answered = self.asked;
        read_answer(&printed, self.asked, self.files, into);
        if !question.is_empty() {
            self.processes.take(answer_in(&printed, self.asked).unwrap_or_default(), into);
        }
        Ok(())
    }
}

impl ResourceMonitor for SshMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        self.ask_or_reconnect(into)
    }

    fn groups_there(&self) -> Vec<RemoteGroupSize> {
        self.processes.sizes()
    }
}

/// Starts `ssh` and sends the script; does not wait for an answer.
fn begin(
    account: &SshAccount,
    options: &SshOptions,
    start: StartProgram,
    files: &Files,
) -> Result<SshConnection, SshConnectionError> {
    let mut connection = SshConnection::start(options, account.as_str(), start)?;
    connection.send(&script(files, ANSWERS_MAX))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Counter;
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use rustix::process::geteuid;
    use units::{Clock, Nanos, RealClock};

    use crate::kernel_file;
    use crate::monitor::LocalMachine;
    use crate::process::ProcessStat;
    use crate::program::ObserverProgram;
    use crate::program::testing::start;
    use crate::watch::WatchedTargets;

    /// A stand-in for a parser: reports the id of the process that reads the file.
    fn own_pid(text: &str, into: &mut Vec<Reading>) {
        let pid = text.split(' ').next().and_then(|pid| pid.parse().ok());
        into.extend(pid.map(|pid| Reading::new(Counter::Forks, pid)));
    }

    const FILES: &Files = &[("/proc/self/stat", own_pid)];

    fn connect(stand_in: &str, answer_time: Duration) -> Result<SshMachine, MonitorError> {
        connect_reading(FILES, stand_in, answer_time)
    }

    /// Connects through a shell script that stands in for `ssh`; its arguments are those of `ssh`.
    fn connect_reading(
        files: &'static Files,
        stand_in: &str,
        answer_time: Duration,
    ) -> Result<SshMachine, MonitorError> {
        let program = ObserverProgram::StandIn("sh");
        let mut options = SshOptions { program, answer_time, ..SshOptions::default() };
        options.connect_time = Duration::from_secs(60);
        options.arguments.splice(..0, ["-c", stand_in, "ssh"].map(Into::into));
        SshMachine::reading(files, "me@sut".parse().unwrap(), options, start)
    }

    /// Drops the options and the destination, and runs the rest locally.
    const HERE: &str = "while [ \"$1\" != -- ]; do shift; done; shift 2; exec \"$@\"";

    const LONG: Duration = Duration::from_secs(60);

    /// Goal: the output of `grep`, reassembled, parses like the files themselves.
    #[test]
    fn remote_kernel_files_parse_like_local_ones() {
        let mut afar = Vec::new();
        let mut here = Vec::new();
        connect_reading(PROC_FILES, HERE, LONG).unwrap().read(&mut afar).unwrap();
        for (path, parse) in PROC_FILES {
            // A missing file is missing for `grep` as well.
            let _ = std::fs::read_to_string(path).map(|text| parse(&text, &mut here));
        }
        let counters = |readings: &[Reading]| readings.iter().map(|one| one.counter).collect::<BTreeSet<_>>();
        assert_eq!(counters(&afar), counters(&here));
        let of = |readings: &[Reading], counter| -> Vec<Reading> {
            readings.iter().filter(|one| one.counter == counter).cloned().collect()
        };
        assert_eq!(of(&afar, Counter::MemoryTotal), of(&here, Counter::MemoryTotal));
        assert_eq!(of(&afar, Counter::CpuUser).len(), of(&here, Counter::CpuUser).len());
    }

    /// Goal: the processes behind a port of the other machine are found and counted by what its shell prints.
    #[test]
    fn processes_there_are_found_and_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let label = format!("port={}", listener.local_addr().unwrap().port());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("back-end.sock");
        let _back_end = UnixListener::bind(&path).unwrap();
        let _waiting = UnixStream::connect(&path).unwrap();
        // Listeners that are closed are not this process's own, so that these connections are those to services.
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        let service_path = folder.path().join("a service");
        let unix_service = UnixListener::bind(&service_path).unwrap();
        let service_port = service.local_addr().unwrap().port();
        let _calls = [(); 3].map(|()| TcpStream::connect(("127.0.0.1", service_port)).unwrap());
        let _call = UnixStream::connect(&service_path).unwrap();
        let _accepted = ([(); 3].map(|()| service.accept().unwrap()), unix_service.accept().unwrap());
        drop((service, unix_service));
        let selectors = [label.parse().unwrap()];
        let connected = || connect_reading(PROC_FILES, HERE, LONG).unwrap();
        let mut machine = connected().watching(&selectors).unwrap();
        let sizes = machine.groups_there();
        assert!(sizes.len() == 1 && sizes[0].label == label && 1 <= sizes[0].read, "{sizes:?}");
        // Nobody accepts them.
        let address = listener.local_addr().unwrap();
        let _clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        let mut first = Vec::new();
        machine.read(&mut first).unwrap();
        // The threads are known after the first one.
        let mut readings = Vec::new();
        machine.read(&mut readings).unwrap();
        let of = |counter| {
            readings.iter().find(|one| one.counter == counter && one.instance == label).unwrap().value
        };
        let queue = Reading::of(Counter::AcceptQueue, address.port().to_string(), 2);
        assert!(readings.contains(&queue), "{readings:?}");
        for (counter, n) in [(Counter::SutConnections, 2), (Counter::SutAccepted, 0)] {
            let expected = Reading::of(counter, address.port().to_string(), n);
            assert!(
                first.contains(&expected),
                "a machine with many sockets counts them later again: {first:?}"
            );
        }
        for (name, n) in [(service_port.to_string(), 3), (service_path.display().to_string(), 1)] {
            let expected = Reading::of(Counter::SutServiceConnections, name, n);
            assert!(first.contains(&expected), "{expected:?} in {first:?}");
        }
        assert!(4 <= of(Counter::SutOpenFiles) && of(Counter::SutOpenFiles) < of(Counter::SutOpenFilesMax));
        let unix = Reading::of(Counter::UnixAcceptQueue, path.display().to_string(), 1);
        assert!(readings.contains(&unix), "install it with `apt-get install iproute2`: {readings:?}");
        let has_room = |one: &Reading| {
            one.counter == Counter::AcceptQueueMax
                && one.instance == address.port().to_string()
                && 2 < one.value
        };
        assert!(first.iter().any(has_room), "{first:?}");
        assert!(1 <= of(Counter::SutThreadsRunning) + of(Counter::SutThreadsWaiting));
        // The thread that waits for this test sleeps in one.
        let has_channel = |one: &Reading| {
            one.counter == Counter::SutWaitChannel && one.instance.starts_with(&label) && 0 < one.value
        };
        assert!(!geteuid().is_root() || readings.iter().any(has_channel), "{readings:?}");
        assert!(
            1 <= of(Counter::SutProcesses) && 1 <= of(Counter::SutThreads) && 0 < of(Counter::SutMinorFaults)
        );
        assert!(readings.iter().any(|one| one.counter == Counter::SutCpu));
        assert!(readings.iter().any(|one| one.counter == Counter::MemoryTotal));
        let error = connected().watching(&["port=1".parse().unwrap()]).unwrap_err().to_string();
        assert!(error.starts_with("me@sut: no process was found for `port=1`"), "{error}");
    }

    /// A process that holds sockets and does nothing.
    struct Holder(Child);

    impl Holder {
        fn start(input: OwnedFd, output: Stdio) -> Holder {
            Holder(Command::new("sleep").arg("600").stdin(input).stdout(output).spawn().unwrap())
        }
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Watches a process that holds a connection to a back end, and returns the readings of both once this is found.
    fn read_with_back_end(connection: OwnedFd, back_end: &str) -> Vec<Reading> {
        let server = Holder::start(connection, Stdio::null());
        let selector = format!("pid={}", server.0.id());
        let machine = connect_reading(PROC_FILES, HERE, LONG).unwrap();
        let mut machine = machine.watching(&[selector.parse().unwrap()]).unwrap();
        let mut readings = Vec::new();
        // The connections are counted, then the back end is found, then it is read.
        for n_groups in [1, 2, 2] {
            readings.clear();
            machine.read(&mut readings).unwrap();
            assert_eq!(machine.groups_there().len(), n_groups, "{readings:?}");
        }
        let labels: Vec<String> = machine.groups_there().into_iter().map(|one| one.label).collect();
        assert_eq!(labels, [selector, back_end.to_owned()]);
        for label in labels {
            let is_read = |one: &Reading| {
                one.counter == Counter::SutProcesses && one.instance == label && 1 <= one.value
            };
            assert!(readings.iter().any(is_read), "{label}: {readings:?}");
        }
        readings
    }

    /// Goal: a back end is found by what the other machine's shell prints of the connection to its port, and is counted with
    /// its accept queue, in which the connection waits.
    #[test]
    fn a_back_end_on_a_port_there_is_found_and_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _back_end = Holder::start(listener.into(), Stdio::null());
        let readings = read_with_back_end(connection.into(), &format!("port={port}"));
        let queue = Reading::of(Counter::AcceptQueue, port.to_string(), 1);
        assert!(readings.contains(&queue), "{readings:?}");
    }

    /// Goal: the same on a Unix socket. The end that was accepted has its path.
    #[test]
    fn a_back_end_on_a_unix_socket_there_is_found_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("back end.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let connection = UnixStream::connect(&path).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let _back_end = Holder::start(listener.into(), OwnedFd::from(accepted).into());
        let readings = read_with_back_end(connection.into(), &format!("socket={}", path.display()));
        let queue = Reading::of(Counter::UnixAcceptQueue, path.display().to_string(), 0);
        assert!(readings.contains(&queue), "install it with `apt-get install iproute2`: {readings:?}");
    }

    /// A busy process that may use CPU 0 alone, and a tenth of it where this user may make control groups of version 1.
    struct Limited {
        process: Child,
        groups: [PathBuf; 2],
        has_quota: bool,
    }

    impl Limited {
        fn start() -> Limited {
            let mut command = Command::new("taskset");
            command.args(["-c", "0", "sh", "-c", "read go; while :; do :; done"]).stdin(Stdio::piped());
            let mut process = command.spawn().expect("install it with `apt-get install util-linux`");
            let pid = process.id();
            wait_for(|| kernel_file::read(format!("/proc/{pid}/comm")).as_deref() == Some("sh"));
            let name = format!("plimsoll-test-afar-{}", std::process::id());
            let groups = ["cpu", "cpuacct"].map(|one| Path::new("/sys/fs/cgroup").join(one).join(&name));
            let write =
                |index: usize, file: &str, text: &str| fs::write(groups[index].join(file), text).is_ok();
            let has_quota = groups.iter().all(|group| fs::create_dir(group).is_ok())
                && write(0, "cpu.cfs_period_us", "20000")
                && write(0, "cpu.cfs_quota_us", "2000")
                && (0..2).all(|index| write(index, "cgroup.procs", &pid.to_string()));
            drop(process.stdin.take());
            Limited { process, groups, has_quota }
        }
    }

    impl Drop for Limited {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
            // The kernel takes a moment until an ended process has left.
            wait_for(|| self.groups.iter().all(|group| fs::remove_dir(group).is_ok() || !group.exists()));
        }
    }

    fn wait_for(mut is_so: impl FnMut() -> bool) {
        let clock = RealClock::start();
        while !is_so() && clock.now() < Nanos::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Goal: the limits in force of a process are the same whether they are read here or through a shell, and the use of a
    /// quota is read there, too.
    #[test]
    fn limits_in_force_there_are_those_that_are_read_here() {
        const LIMITS: [Counter; 3] = [Counter::SutAllowedCpu, Counter::SutQuota, Counter::SutMemoryMax];
        let limited = Limited::start();
        let label = format!("pid={}", limited.process.id());
        let selectors = [label.parse().unwrap()];
        let mut here = LocalMachine::new(None).watching(WatchedTargets::select(&selectors).unwrap());
        let mut afar = connect_reading(PROC_FILES, HERE, LONG).unwrap().watching(&selectors).unwrap();
        let read = |machine: &mut dyn ResourceMonitor, counters: &[Counter]| {
            let mut readings = Vec::new();
            machine.read(&mut readings).unwrap();
            readings.retain(|one| counters.contains(&one.counter));
            readings
        };
        let limits = read(&mut afar, &LIMITS);
        assert_eq!(limits, read(&mut here, &LIMITS));
        let is_one = 1 == std::thread::available_parallelism().unwrap().get();
        let cpu = Reading::of(Counter::SutAllowedCpu, format!("{label} 0"), 1);
        assert!(is_one || limits.contains(&cpu), "{limits:?}");
        if limited.has_quota {
            assert!(limits.contains(&Reading::of(Counter::SutQuota, label, 100_000)), "{limits:?}");
            let mut periods = 0;
            wait_for(|| {
                periods = read(&mut afar, &[Counter::SutThrottledPeriods]).iter().map(|one| one.value).sum();
                1 < periods
            });
            assert!(1 < periods);
            assert_eq!(read(&mut afar, &[Counter::SutQuotaCpu]).len(), 1);
        }
    }

    #[test]
    fn every_reading_sends_a_request() {
        let greeting = format!("echo Welcome to the SUT; [ \"$1\" = -T ] || exit 1; {HERE}");
        for stand_in in [HERE, &greeting] {
            let mut machine = connect(stand_in, LONG).unwrap();
            let mut readings = Vec::new();
            for count in 1..=3 {
                machine.read(&mut readings).unwrap();
                assert_eq!(readings.len(), count);
            }
            assert!(readings[0].value != readings[1].value && readings[1].value != readings[2].value);
        }
    }

    #[test]
    fn the_destination_is_passed_unchanged() {
        let stand_in = format!("case \"$*\" in *' -- me@sut sh') ;; *) exit 1;; esac; {HERE}");
        assert!(connect(&stand_in, LONG).is_ok());
    }

    #[test]
    fn a_refused_login_is_reported_with_its_reason() {
        let error = connect("echo hm >&2; echo 'me@sut: Permission denied (publickey).' >&2; exit 255", LONG);
        assert_eq!(
            error.unwrap_err().to_string(),
            "me@sut: `ssh` ended: me@sut: Permission denied (publickey).\n\
             hint: `ssh -o BatchMode=yes me@sut true` must work without prompts"
        );
        let error = connect("exit 255", LONG).unwrap_err();
        assert!(error.reason.starts_with("`ssh` ended without a message\nhint: "), "{error}");
    }

    #[test]
    fn messages_of_ssh_are_escaped_and_truncated() {
        let said = r"\033[31mRED\033]0;owned\007";
        let error = connect(&format!("printf '{said}\n' >&2; exit 255"), LONG).unwrap_err();
        assert!(
            error.reason.starts_with("`ssh` ended: \\u{1b}[31mRED\\u{1b}]0;owned\\u{7}\nhint: "),
            "{}",
            error.reason
        );
        let error = connect("printf '%3000s\n' x | tr ' ' x >&2; exit 255", LONG).unwrap_err();
        assert!(
            error.reason.len() < 500 && error.reason.contains("… (3000 bytes in all)"),
            "{}",
            error.reason
        );
    }

    #[test]
    fn a_missing_program_is_named() {
        let program = ObserverProgram::StandIn("/nonexistent/ssh");
        let options = SshOptions { program, ..SshOptions::default() };
        let error = SshMachine::connect("me@sut".parse().unwrap(), options, start).unwrap_err();
        assert!(error.reason.starts_with("cannot start `/nonexistent/ssh`: No such file"), "{error}");
    }

    #[test]
    fn a_machine_without_kernel_files_is_refused() {
        let error = connect("echo plimsoll-begin 1; echo plimsoll-end 1; read question", LONG).unwrap_err();
        assert_eq!(error.reason, "expected a readable Linux `/proc`, found none");
    }

    /// A stand-in that answers once, and ends at the next request.
    const BREAKS: &str = "printf 'plimsoll-begin 1\\n/proc/self/stat:7 (x)\\nplimsoll-end 1\\n'; \
                          while read line; do [ -n \"$line\" ] || break; done; \
                          printf 'SshConnection to sut closed by remote host.\\r\\n' >&2; exit 255";

    #[test]
    fn a_broken_connection_is_reported_each_time() {
        let mut machine = connect(BREAKS, LONG).unwrap();
        for _ in 0..4 {
            let error = machine.read(&mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), "me@sut: `ssh` ended: SshConnection to sut closed by remote host.");
        }
    }

    /// The stand-in breaks only if it is the first to create the folder.
    #[test]
    fn a_broken_connection_is_reestablished() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let stand_in = format!("if mkdir '{}' 2>/dev/null; then {BREAKS}; fi; {HERE}", made.display());
        let mut machine = connect(&stand_in, LONG).unwrap();
        let mut readings = Vec::new();
        assert!(machine.read(&mut readings).is_err() && readings.is_empty());
        for count in 1..=2 {
            machine.read(&mut readings).unwrap();
            assert_eq!(readings.len(), count);
        }
        assert_eq!(machine.back_off.ended, 0);
    }

    /// Goal: a machine that is gone is not contacted every second. It breaks at the first reading; the
    /// stand-in counts how often it is started. With backoffs of 0, 1, 3 and 7 readings it is tried at
    /// readings 2, 4, 8 and 16.
    #[test]
    fn reconnects_back_off() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let starts = folder.path().join("starts");
        let stand_in = format!(
            "if mkdir '{}' 2>/dev/null; then {BREAKS}; fi; printf x >>'{}'; echo no route >&2; exit 255",
            made.display(),
            starts.display()
        );
        let mut machine = connect(&stand_in, LONG).unwrap();
        let n_starts = || std::fs::read(&starts).map_or(0, |starts| starts.len());
        let tried: Vec<u32> = (1..=16)
            .filter(|_| {
                let before = n_starts();
                let error = machine.read(&mut Vec::new()).unwrap_err();
                assert!(error.reason.starts_with("`ssh` ended: "), "{error}");
                before < n_starts()
            })
            .collect();
        assert_eq!(tried, [2, 4, 8, 16]);
        machine.back_off.ended = 40;
        machine.back_off.begin(&SshConnectionError::EndedSilently);
        assert_eq!(machine.back_off.rest, REST_MAX);
    }

    /// Goal: a late answer is not taken for a new one. The stand-in delays its second answer until a pipe is
    /// opened, and answers the third request at once.
    #[test]
    fn a_late_answer_is_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let gate = folder.path().join("gate");
        assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
        let stand_in = format!(
            "answer() {{ printf 'plimsoll-begin %d\\n/proc/self/stat:%d (x)\\nplimsoll-end %d\\n' $1 $1 $1; }}; \
             next() {{ read line; }}; while read line; do [ \"$line\" = '}}' ] && break; done; \
             answer 1; next; read go <'{}'; answer 2; next; answer 3; next",
            gate.display()
        );
        let mut machine = connect(&stand_in, Duration::from_millis(20)).unwrap();
        let mut readings = Vec::new();
        assert_eq!(machine.read(&mut readings).unwrap_err().reason, "no complete answer within 20 ms");
        assert_eq!(machine.read(&mut readings).unwrap_err().reason, "no complete answer within 20 ms");
        machine.options.answer_time = LONG;
        std::fs::OpenOptions::new().write(true).open(&gate).unwrap().write_all(b"go\n").unwrap();
        machine.read(&mut readings).unwrap();
        assert_eq!(readings, [Reading::new(Counter::Forks, 3)]);
    }

    #[test]
    fn the_process_ends_with_the_monitor() {
        let folder = tempfile::tempdir().unwrap();
        let started = folder.path().join("started");
        let machine = connect(&format!("echo $$ >'{}'; {HERE}", started.display()), LONG).unwrap();
        let pid = std::fs::read_to_string(&started).unwrap().trim().parse().unwrap();
        assert!(ProcessStat::of(pid).is_some());
        drop(machine);
        assert!(ProcessStat::of(pid).is_none());
    }
}
