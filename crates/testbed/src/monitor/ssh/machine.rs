//! A machine whose kernel files come through `ssh`.
//!
//! | connection | a reading | then |
//! |---|---|---|
//! | stands | asks, waits for the answer | stands |
//! | stands, but the answer is late | says so | stands; what comes late is thrown away |
//! | is over | says why | rests |
//! | rests | says why | rests for 0, 1, 3, 7, 15, then 30 readings, then is begun again |
//! | begun again | asks, waits for the answer | stands; or is over, and rests longer |

use model::Reading;

use super::account::SshAccount;
use super::connection::{Connection, SshOptions};
use super::script::{ANSWERS_MAX, Files, end_line, read_answer, script};
use crate::monitor::{PROC_FILES, Watch, WatchError};

/// A Linux machine that can be reached with `ssh` without a question; nothing is installed there.
///
/// One `ssh` runs as long as this lives; if it ends, another is begun at one of the next readings.
#[derive(Debug)]
pub struct SshMachine {
    account: SshAccount,
    options: SshOptions,
    files: &'static Files,
    connection: Connection,
    /// Number of the last answer that was asked for.
    asked: u64,
    /// Number of the last answer that came.
    answered: u64,
    back_off: BackOff,
}

/// The longest rest between two connections, in readings: as many seconds.
const REST_MAX: u32 = 30;

/// How long a connection that is over is left alone.
#[derive(Debug, Default)]
struct BackOff {
    /// How many connections in a row ended.
    ended: u32,
    /// How many readings are still to pass.
    rest: u32,
    /// Why the last one ended.
    why: String,
}

impl BackOff {
    fn begin(&mut self, why: &str) {
        self.rest = 2_u32.saturating_pow(self.ended).saturating_sub(1).min(REST_MAX);
        self.ended = self.ended.saturating_add(1);
        self.why = why.to_owned();
    }
}

impl SshMachine {
    /// Connects, and waits for a first answer.
    ///
    /// # Errors
    /// If `ssh` cannot be started, does not get in or gets no answer in time, or if the other machine has none of the
    /// kernel files.
    pub fn connect(account: SshAccount, options: SshOptions) -> Result<SshMachine, WatchError> {
        SshMachine::reading(PROC_FILES, account, options)
    }

    fn reading(
        files: &'static Files,
        account: SshAccount,
        options: SshOptions,
    ) -> Result<SshMachine, WatchError> {
        let fail = |reason: String| {
            let hint = format!("hint: `ssh -o BatchMode=yes {account} true` has to work without a question");
            WatchError { watched: account.to_string(), reason: format!("{reason}\n{hint}") }
        };
        let mut connection = begin(&account, &options, files).map_err(fail)?;
        let within = connection.within(options.connect_time);
        let printed = connection.receive(&end_line(1), within).map_err(fail)?;
        let mut readings = Vec::new();
        read_answer(&printed, 1, files, &mut readings);
        if readings.is_empty() {
            let reason = "expected the files of Linux' `/proc`, found none that can be read".to_owned();
            return Err(WatchError { watched: account.to_string(), reason });
        }
        let back_off = BackOff::default();
        Ok(SshMachine { account, options, files, connection, asked: 1, answered: 1, back_off })
    }

    /// Asks, over another connection if the last one is over and has rested. The first answer over a new one may come
    /// after its time, like any other: it is waited for at the next readings.
    fn ask_anyhow(&mut self, into: &mut Vec<Reading>) -> Result<(), String> {
        if self.connection.is_over() {
            if let Some(rest) = self.back_off.rest.checked_sub(1) {
                self.back_off.rest = rest;
                return Err(self.back_off.why.clone());
            }
            let begun = begin(&self.account, &self.options, self.files);
            self.connection = begun.inspect_err(|why| self.back_off.begin(why))?;
            (self.asked, self.answered) = (1, 0);
        }
        let told = self.ask(into);
        match &told {
            Ok(()) => self.back_off.ended = 0,
            Err(why) if self.connection.is_over() => self.back_off.begin(why),
            Err(_) => {}
        }
        told
    }

    /// Asks, and appends the answer. One that comes after its time is thrown away: it tells of the past.
    fn ask(&mut self, into: &mut Vec<Reading>) -> Result<(), String> {
        let within = self.connection.within(self.options.answer_time);
        if self.answered < self.asked {
            self.connection.receive(&end_line(self.asked), within)?;
            self.answered = self.asked;
        }
        self.connection.send("\n")?;
        self.asked += 1;
        let printed = self.connection.receive(&end_line(self.asked), within)?;
        self.answered = self.asked;
        read_answer(&printed, self.asked, self.files, into);
        Ok(())
    }
}

impl Watch for SshMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), WatchError> {
        self.ask_anyhow(into).map_err(|reason| WatchError { watched: self.account.to_string(), reason })
    }
}

/// Starts `ssh` and tells the shell what to do; it has to be waited for.
fn begin(account: &SshAccount, options: &SshOptions, files: &Files) -> Result<Connection, String> {
    let mut connection = Connection::start(options, account.as_str())?;
    connection.send(&script(files, ANSWERS_MAX))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Counter;
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::time::Duration;

    use crate::process::ProcessStat;

    /// Stands for a parser: the process that reads the file.
    fn own_pid(text: &str, into: &mut Vec<Reading>) {
        let pid = text.split(' ').next().and_then(|pid| pid.parse().ok());
        into.extend(pid.map(|pid| Reading::new(Counter::Forks, pid)));
    }

    const FILES: &Files = &[("/proc/self/stat", own_pid)];

    fn connect(stand_in: &str, answer_time: Duration) -> Result<SshMachine, WatchError> {
        connect_reading(FILES, stand_in, answer_time)
    }

    /// Connects through a shell program that stands in for `ssh`; its arguments are those of `ssh`.
    fn connect_reading(
        files: &'static Files,
        stand_in: &str,
        answer_time: Duration,
    ) -> Result<SshMachine, WatchError> {
        let mut options = SshOptions { program: "sh".into(), answer_time, ..SshOptions::default() };
        options.connect_time = Duration::from_secs(60);
        options.arguments.splice(..0, ["-c", stand_in, "ssh"].map(Into::into));
        SshMachine::reading(files, "me@sut".parse().unwrap(), options)
    }

    /// Drops the options and the destination, and runs the rest here.
    const HERE: &str = "while [ \"$1\" != -- ]; do shift; done; shift 2; exec \"$@\"";

    const LONG: Duration = Duration::from_secs(60);

    /// Goal: what `grep` prints and is put together again reads as the files themselves do.
    #[test]
    fn kernel_files_tell_the_same_from_afar() {
        let (mut afar, mut here) = (Vec::new(), Vec::new());
        connect_reading(PROC_FILES, HERE, LONG).unwrap().read(&mut afar).unwrap();
        for (path, parse) in PROC_FILES {
            // One that is not there is not there for `grep` either.
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

    #[test]
    fn every_reading_asks_anew() {
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
    fn the_destination_is_passed_as_it_is() {
        let stand_in = format!("case \"$*\" in *' -- me@sut sh') ;; *) exit 1;; esac; {HERE}");
        assert!(connect(&stand_in, LONG).is_ok());
    }

    #[test]
    fn who_is_not_let_in_hears_why() {
        let error = connect("echo hm >&2; echo 'me@sut: Permission denied (publickey).' >&2; exit 255", LONG);
        assert_eq!(
            error.unwrap_err().to_string(),
            "me@sut: `ssh` ended: me@sut: Permission denied (publickey).\n\
             hint: `ssh -o BatchMode=yes me@sut true` has to work without a question"
        );
        let error = connect("exit 255", LONG).unwrap_err();
        assert!(error.reason.starts_with("`ssh` ended without a word\nhint: "), "{error}");
    }

    #[test]
    fn what_ssh_says_commands_no_terminal_and_is_bounded() {
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
    fn a_program_that_is_not_there_is_named() {
        let options = SshOptions { program: "/nonexistent/ssh".into(), ..SshOptions::default() };
        let error = SshMachine::connect("me@sut".parse().unwrap(), options).unwrap_err();
        assert!(error.reason.starts_with("`/nonexistent/ssh` cannot be started: No such file"), "{error}");
    }

    #[test]
    fn a_machine_without_kernel_files_is_refused() {
        let error = connect("echo plimsoll-begin 1; echo plimsoll-end 1; read question", LONG).unwrap_err();
        assert_eq!(error.reason, "expected the files of Linux' `/proc`, found none that can be read");
    }

    /// Answers once, and ends with the next question.
    const BREAKS: &str = "printf 'plimsoll-begin 1\\n/proc/self/stat:7 (x)\\nplimsoll-end 1\\n'; \
                          while read line; do [ -n \"$line\" ] || break; done; \
                          printf 'Connection to sut closed by remote host.\\r\\n' >&2; exit 255";

    #[test]
    fn a_stream_that_breaks_says_so_each_time() {
        let mut machine = connect(BREAKS, LONG).unwrap();
        for _ in 0..4 {
            let error = machine.read(&mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), "me@sut: `ssh` ended: Connection to sut closed by remote host.");
        }
    }

    /// The stand-in breaks where it is the first to make the folder.
    #[test]
    fn a_stream_that_broke_is_begun_again() {
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

    /// Goal: a machine that is gone is not asked every second. It breaks at the first reading; the stand-in counts how
    /// often it is started. Rests of 0, 1, 3 and 7 readings: it is tried at readings 2, 4, 8 and 16.
    #[test]
    fn a_machine_that_is_gone_is_left_alone_longer_and_longer() {
        let folder = tempfile::tempdir().unwrap();
        let (made, starts) = (folder.path().join("made"), folder.path().join("starts"));
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
        machine.back_off.begin("gone");
        assert_eq!(machine.back_off.rest, REST_MAX);
    }

    /// Goal: what comes too late is not taken for new. The stand-in holds its second answer back until a pipe is
    /// opened, and answers the third question at once.
    #[test]
    fn a_late_answer_is_thrown_away() {
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
        assert_eq!(machine.read(&mut readings).unwrap_err().reason, "no whole answer within 20 ms");
        assert_eq!(machine.read(&mut readings).unwrap_err().reason, "no whole answer within 20 ms");
        machine.options.answer_time = LONG;
        std::fs::OpenOptions::new().write(true).open(&gate).unwrap().write_all(b"go\n").unwrap();
        machine.read(&mut readings).unwrap();
        assert_eq!(readings, [Reading::new(Counter::Forks, 3)]);
    }

    #[test]
    fn the_process_ends_with_the_watch() {
        let machine = connect(HERE, LONG).unwrap();
        let pid = machine.connection.process();
        assert!(ProcessStat::of(pid).is_some());
        drop(machine);
        assert!(ProcessStat::of(pid).is_none());
    }
}
