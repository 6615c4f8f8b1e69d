//! Open files, connections and accept queues of Unix sockets of a group on another machine: what takes the longer to read the
//! more there is.

use std::collections::{BTreeMap, BTreeSet};

use model::{Counter, Reading};

use crate::monitor::processes::OpenFiles;

/// The number of open files or rows that may be read per second: a shell and `awk` take 1 to 3 ms of CPU time for so many.
const READ_PER_SECOND: u64 = 1000;

/// The beginning of lines about Unix sockets.
const UNIX_LINE: &str = "unix:";

/// The texts of a process about what it has open, in an answer.
#[derive(Debug, Default)]
pub(super) struct CountTexts {
    /// The number of open files.
    open: Option<u64>,
    limits: String,
    /// A line for each port, with the connections and those of them that were accepted, and the number of rows: `1F90 5 3`,
    /// `rows 120`.
    connections: String,
}

/// The connections to a port that the server still holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PortConnections {
    all: u64,
    /// Those that do not wait to be accepted.
    accepted: u64,
}

/// What was last counted of a group.
#[derive(Debug, Default)]
pub(super) struct RemoteCounts {
    files: BTreeMap<u32, OpenFiles>,
    /// The process whose files were counted last.
    last_process: u32,
    files_pause: u64,
    connections: BTreeMap<u16, PortConnections>,
    connections_pause: u64,
    /// Whether the group holds no listening Unix socket, or they cannot be read there.
    lacks_unix: bool,
}

impl CountTexts {
    /// Takes a line of a file below the folder of the process, or one that is printed like it.
    pub(super) fn take(&mut self, name: &str, text: &str) {
        match name {
            "open" => self.open = text.trim().parse().ok(),
            "limits" => self.limits.extend([text, "\n"]),
            "connections" => self.connections.extend([text, "\n"]),
            _ => {}
        }
    }
}

impl RemoteCounts {
    /// Returns the words of the next request: of the process in turn its open files, of the group's network its connections,
    /// as far as they are due.
    pub(super) fn words(&mut self, members: &BTreeSet<u32>, has_sockets: bool) -> Vec<String> {
        let mut words = Vec::new();
        let next = members.range(self.last_process.saturating_add(1)..).next().or(members.first());
        if let Some(pid) = next.filter(|_| is_due(&mut self.files_pause)) {
            self.last_process = *pid;
            words.push(format!("+{pid}"));
        }
        if let Some(pid) = members.first().filter(|_| has_sockets) {
            words.extend(is_due(&mut self.connections_pause).then(|| format!(":{pid}")));
            words.extend((!self.lacks_unix).then(|| "unix".to_owned()));
        }
        words
    }

    /// Takes what was printed of a process.
    pub(super) fn take(&mut self, pid: u32, texts: &CountTexts) {
        if let Some((open, max)) = texts.open.zip(OpenFiles::max_of(&texts.limits)) {
            self.files.insert(pid, OpenFiles { open, max });
            self.files_pause = open / READ_PER_SECOND;
        }
        if texts.connections.is_empty() {
            return;
        }
        self.connections.clear();
        for line in texts.connections.lines() {
            let mut fields = line.split_ascii_whitespace();
            let (port, numbers) = (fields.next().unwrap_or_default(), fields);
            let numbers: Vec<u64> = numbers.filter_map(|field| field.parse().ok()).collect();
            match (port, &numbers[..]) {
                ("rows", [rows]) => self.connections_pause = rows / READ_PER_SECOND,
                (port, [all, accepted]) => {
                    let n = PortConnections { all: *all, accepted: *accepted };
                    self.connections.extend(u16::from_str_radix(port, 16).ok().map(|port| (port, n)));
                }
                _ => {}
            }
        }
    }

    /// Reports the open files of the process that is closest to its limit, and the connections to these ports, as last
    /// counted.
    pub(super) fn report(
        &mut self,
        living: &BTreeSet<u32>,
        ports: &BTreeSet<u16>,
        label: &str,
        into: &mut Vec<Reading>,
    ) {
        self.files.retain(|pid, _| living.contains(pid));
        let nearest = OpenFiles::nearest(self.files.values().copied());
        for (counter, value) in nearest.iter().flat_map(OpenFiles::counters) {
            into.push(Reading::of(counter, label, value));
        }
        for (port, n) in self.connections.iter().filter(|(port, _)| ports.contains(port)) {
            into.push(Reading::of(Counter::SutConnections, port.to_string(), n.all));
            into.push(Reading::of(Counter::SutAccepted, port.to_string(), n.accepted));
        }
    }

    /// Reports the accept queues of the Unix sockets that the group holds, which are requested again only if there are any.
    pub(super) fn report_unix(
        &mut self,
        queues: &[UnixQueue],
        held: &BTreeSet<u64>,
        into: &mut Vec<Reading>,
    ) {
        let own: Vec<&UnixQueue> = queues.iter().filter(|one| held.contains(&one.inode)).collect();
        self.lacks_unix = own.is_empty();
        let mut paths: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
        for one in own {
            let sums = paths.entry(&one.path).or_default();
            *sums = [sums[0].saturating_add(one.waiting), sums[1].saturating_add(one.waiting_max)];
        }
        for (path, [waiting, waiting_max]) in paths {
            into.push(Reading::of(Counter::UnixAcceptQueue, path, waiting));
            into.push(Reading::of(Counter::UnixAcceptQueueMax, path, waiting_max));
        }
    }
}

/// Returns whether a pause is over, and otherwise shortens it by a reading.
fn is_due(pause: &mut u64) -> bool {
    let is_over = *pause == 0;
    *pause = pause.saturating_sub(1);
    is_over
}

/// The accept queue of a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnixQueue {
    inode: u64,
    path: String,
    waiting: u64,
    waiting_max: u64,
}

/// Returns the accept queues that `ss` printed: `u_str LISTEN 0 511 /run/php.sock 4711 * 0`. Other lines are left out.
pub(super) fn unix_queues(printed: &str) -> Vec<UnixQueue> {
    let queue = |line: &str| {
        let mut fields = line.strip_prefix(UNIX_LINE)?.split_ascii_whitespace();
        let is_listening = fields.next()?.starts_with("u_") && fields.next()? == "LISTEN";
        let (waiting, waiting_max) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let (path, inode) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
        is_listening.then_some(UnixQueue { inode, path, waiting, waiting_max })
    };
    printed.lines().filter_map(queue).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[(&str, &str)]) -> CountTexts {
        let mut texts = CountTexts::default();
        lines.iter().for_each(|(name, text)| texts.take(name, text));
        texts
    }

    /// By hand: 2,500 open files are counted again after a pause of 2 readings; processes have their turns.
    #[test]
    fn much_is_counted_rarely_and_all_processes_have_their_turn() {
        let mut counts = RemoteCounts::default();
        let members: BTreeSet<u32> = [10, 11].into();
        assert_eq!(counts.words(&members, false), ["+10"]);
        let limits = "Max open files            1024                 524288               files     ";
        counts.take(10, &texts(&[("open", "2500"), ("limits", limits)]));
        assert_eq!(counts.words(&members, false), [""; 0]);
        assert_eq!(counts.words(&members, true), [":10", "unix"]);
        assert_eq!(counts.words(&members, false), ["+11"]);
        counts.take(11, &texts(&[("open", "5"), ("limits", limits)]));
        assert_eq!(counts.words(&members, false), ["+10"]);
        counts.take(10, &texts(&[("connections", "1F90 5 3"), ("connections", "rows 3100")]));
        assert_eq!(counts.words(&members, true), ["+11", "unix"]);
        let mut readings = Vec::new();
        counts.report(&members, &[8080].into(), "port=8080", &mut readings);
        let expected = [
            Reading::of(Counter::SutOpenFiles, "port=8080", 2500),
            Reading::of(Counter::SutOpenFilesMax, "port=8080", 1024),
            Reading::of(Counter::SutConnections, "8080", 5),
            Reading::of(Counter::SutAccepted, "8080", 3),
        ];
        assert_eq!(readings, expected);
        readings.clear();
        counts.report(&[11].into(), &[].into(), "port=8080", &mut readings);
        assert_eq!(readings[0], Reading::of(Counter::SutOpenFiles, "port=8080", 5));
        assert_eq!(readings.len(), 2);
    }

    /// Recorded from `ss` of iproute2 6.1.
    #[test]
    fn accept_queues_of_unix_sockets_are_requested_where_the_group_holds_one() {
        let printed = "unix:Netid State  Recv-Q Send-Q                  Local Address:Port  Peer Address:Port\n\
                       unix:u_str LISTEN 3      511               /run/php/php8.2-fpm.sock 4711            * 0          \n\
                       unix:u_seq LISTEN 0      4096                      /run/udev/control 1150             * 0          \n";
        let queues = unix_queues(printed);
        assert_eq!(queues.len(), 2);
        let mut counts = RemoteCounts::default();
        let mut readings = Vec::new();
        counts.report_unix(&queues, &[4711].into(), &mut readings);
        let path = "/run/php/php8.2-fpm.sock";
        let expected = [
            Reading::of(Counter::UnixAcceptQueue, path, 3),
            Reading::of(Counter::UnixAcceptQueueMax, path, 511),
        ];
        assert_eq!(readings, expected);
        assert!(!counts.lacks_unix);
        counts.report_unix(&queues, &[1].into(), &mut readings);
        assert!(counts.lacks_unix && readings.len() == 2);
    }
}
