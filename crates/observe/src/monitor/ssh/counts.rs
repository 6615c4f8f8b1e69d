//! Open files, connections and accept queues of Unix sockets of a group on another machine: what takes the longer to read the
//! more there is.

use std::collections::{BTreeMap, BTreeSet};

use model::{Counter, Reading};

use super::processes::PROCESSES_MAX;
use crate::monitor::netlink::{PortConnections, Service, UnixAcceptQueue, is_of_system, renew_services};
use crate::monitor::processes::OpenFiles;

/// The number of open files or rows that may be read per second: a shell and `awk` take 1 to 3 ms of CPU time for that many.
const READ_PER_SECOND: u64 = 1000;

/// The longest pause after a request without an answer, in readings.
const PAUSE_MAX: u64 = 60;

/// The beginnings of lines about listening sockets.
const UNIX_LINE: &str = "unix:";
const TCP_LINE: &str = "tcp:";

/// The texts of a process about what it has open, in an answer.
#[derive(Debug, Default)]
pub(super) struct CountTexts {
    /// The number of open files.
    open: Option<u64>,
    limits: String,
    /// A line for each port, with the connections and those of them that were accepted, and the number of rows: `1F90 5 3`,
    /// `rows 120`.
    connections: String,
    /// A line for each service with the connections to it, by port there or elsewhere or by path, and the number of rows:
    /// `5 here 1538`, `3 port 1F90`, `2 socket /run/php.sock`, `rows 120`.
    services: String,
}

/// A count that pauses the longer the more there was to count. Where an answer stays out, because it took too long or there is
/// no such program there, the pause doubles.
#[derive(Debug, Default)]
pub(super) struct PacedCount {
    /// The readings from one count to the next, and those that are left.
    pause: u64,
    left: u64,
}

impl PacedCount {
    /// Returns whether the count is due, and expects no answer in the first place.
    pub(super) fn begin(&mut self) -> bool {
        let is_due = self.left == 0;
        if is_due {
            self.pause = self.pause.saturating_mul(2).clamp(1, PAUSE_MAX);
            self.left = self.pause;
        } else {
            self.left -= 1;
        }
        is_due
    }

    /// Passes a reading in which another group has its turn.
    fn wait(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Pauses after an answer with so many.
    pub(super) fn end(&mut self, n: u64) {
        self.pause = n / READ_PER_SECOND;
        self.left = self.pause;
    }
}

/// The counts of a group, each as it was last taken.
#[derive(Debug, Default)]
pub(super) struct RemoteCounts {
    /// Whether anything was requested: the first counts wait for no turn.
    has_begun: bool,
    files: BTreeMap<u32, OpenFiles>,
    /// The process whose files were counted last.
    last_process: u32,
    file_count: PacedCount,
    /// Those of this reading: counts of an earlier one would look constant.
    connections: BTreeMap<u16, PortConnections>,
    connection_count: PacedCount,
    /// The connections to services.
    services: BTreeMap<Service, u64>,
    service_count: PacedCount,
    /// Whether they were counted in this reading.
    has_new_services: bool,
    unix_count: PacedCount,
    /// Whether the group holds no listening Unix socket.
    lacks_unix: bool,
    room_count: PacedCount,
}

/// The room in the accept queue of a listening TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AcceptRoom {
    inode: u64,
    port: u16,
    /// The connections that may wait.
    waiting_max: u64,
}

impl CountTexts {
    /// Takes a line of a file below the folder of the process, or one that is printed like it.
    pub(super) fn take(&mut self, name: &str, text: &str) {
        match name {
            "open" => self.open = text.trim().parse().ok(),
            "limits" => self.limits.extend([text, "\n"]),
            "connections" => self.connections.extend([text, "\n"]),
            "services" => self.services.extend([text, "\n"]),
            _ => {}
        }
    }
}

impl RemoteCounts {
    /// Returns the words of the next request: of the process in turn its open files, if the group has its turn the connections
    /// of its network and its own to services, and Unix sockets, as far as they are due.
    pub(super) fn words(
        &mut self,
        members: &BTreeSet<u32>,
        has_sockets: bool,
        has_turn: bool,
    ) -> Vec<String> {
        let mut words = Vec::new();
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let has_turn = has_turn || is_first;
        let next = members.range(self.last_process.saturating_add(1)..).next().or(members.first());
        if let Some(pid) = next.filter(|_| self.file_count.begin()) {
            self.last_process = *pid;
            words.push(format!("+{pid}"));
        }
        if !has_turn {
            self.service_count.wait();
        } else if !members.is_empty() && self.service_count.begin() {
            let pids: Vec<String> = members.iter().take(PROCESSES_MAX).map(u32::to_string).collect();
            words.push(format!(">{}", pids.join(",")));
        }
        if let Some(pid) = members.first().filter(|_| has_sockets) {
            words.extend((has_turn && self.connection_count.begin()).then(|| format!(":{pid}")));
            words.extend((!self.lacks_unix && self.unix_count.begin()).then(|| "unix".to_owned()));
            words.extend(self.room_count.begin().then(|| "tcp".to_owned()));
        }
        words
    }

    /// Takes what was printed of a process.
    pub(super) fn take(&mut self, pid: u32, texts: &CountTexts) {
        if let Some((open, max)) = texts.open.zip(OpenFiles::max_of(&texts.limits)) {
            self.files.insert(pid, OpenFiles { open, max });
            self.file_count.end(open);
        }
        for line in texts.connections.lines() {
            let mut fields = line.split_ascii_whitespace();
            let port = fields.next().unwrap_or_default();
            let numbers = fields;
            let numbers: Vec<u64> = numbers.filter_map(|field| field.parse().ok()).collect();
            match (port, &numbers[..]) {
                ("rows", [rows]) => self.connection_count.end(*rows),
                (port, [all, accepted]) => {
                    let n = PortConnections { all: *all, accepted: *accepted };
                    self.connections.extend(u16::from_str_radix(port, 16).ok().map(|port| (port, n)));
                }
                _ => {}
            }
        }
        self.take_services(&texts.services);
    }

    /// Takes the connections to services.
    fn take_services(&mut self, printed: &str) {
        // The number of rows comes last: without it, the count was cut off.
        let Some((counts, rows)) = printed.trim_end().rsplit_once("rows ") else { return };
        let Ok(rows) = rows.parse::<u64>() else { return };
        // It takes several programs: every other reading at most.
        self.service_count.end(rows.max(READ_PER_SECOND));
        self.has_new_services = true;
        renew_services(&mut self.services, counts.lines().filter_map(parse_service));
    }

    /// Returns whether the connections to services were counted since the last call.
    pub(super) fn take_new_services(&mut self) -> bool {
        std::mem::take(&mut self.has_new_services)
    }

    /// Returns the connections to services, as last counted.
    pub(super) fn services(&self) -> impl Iterator<Item = (&Service, u64)> {
        self.services.iter().map(|(service, n)| (service, *n))
    }

    /// Reports the open files of the process that is closest to its limit, as last counted, and the connections to these ports,
    /// if they were counted now.
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
        let connections = std::mem::take(&mut self.connections);
        for (port, n) in connections.into_iter().filter(|(port, _)| ports.contains(port)) {
            n.report(port, into);
        }
    }

    /// Reports the room in the accept queues of the TCP sockets that the group holds, by port.
    pub(super) fn report_rooms(
        &mut self,
        rooms: &[AcceptRoom],
        held: &BTreeSet<u64>,
        into: &mut Vec<Reading>,
    ) {
        if rooms.is_empty() {
            return;
        }
        self.room_count.end(rooms.len() as u64);
        let mut ports: BTreeMap<u16, u64> = BTreeMap::new();
        for room in rooms.iter().filter(|room| held.contains(&room.inode)) {
            let sum = ports.entry(room.port).or_default();
            *sum = sum.saturating_add(room.waiting_max);
        }
        let reading = |(port, most): (u16, u64)| Reading::of(Counter::AcceptQueueMax, port.to_string(), most);
        into.extend(ports.into_iter().map(reading));
    }

    /// Reports the accept queues of the Unix sockets that the group holds. If there were some, but none of the group, they are
    /// not requested again.
    pub(super) fn report_unix(
        &mut self,
        queues: &[UnixAcceptQueue],
        held: &BTreeSet<u64>,
        into: &mut Vec<Reading>,
    ) {
        if queues.is_empty() {
            return;
        }
        self.lacks_unix = !queues.iter().any(|one| held.contains(&one.inode));
        self.unix_count.end(queues.len() as u64);
        UnixAcceptQueue::report(queues, held, into);
    }
}

/// Parses `5 here 1538`, `3 port 1F90` or `2 socket /run/php.sock`; `None` of a socket of the system's own, too.
fn parse_service(line: &str) -> Option<(Service, u64)> {
    let (n, service) = line.split_once(' ')?;
    let (kind, name) = service.split_once(' ')?;
    let port = |is_here| Some(Service::Port { number: u16::from_str_radix(name, 16).ok()?, is_here });
    let service = match kind {
        "here" => port(true),
        "port" => port(false),
        "socket" => Some(Service::Socket(name.to_owned())).filter(|_| !is_of_system(name)),
        _ => None,
    };
    Some((service?, n.parse().ok()?))
}

/// Returns the room in accept queues that `ss` printed:
/// `LISTEN 0 511 0.0.0.0:8080 0.0.0.0:* uid:33 ino:4711 sk:1`. Other lines are left out.
pub(super) fn accept_rooms(printed: &str) -> Vec<AcceptRoom> {
    let room = |line: &str| {
        let mut fields = line.strip_prefix(TCP_LINE)?.split_ascii_whitespace();
        let waiting_max = fields.nth(2).filter(|_| line.starts_with("tcp:LISTEN"))?.parse().ok()?;
        let (_, port) = fields.next()?.rsplit_once(':')?;
        let inode = fields.find_map(|field| field.strip_prefix("ino:"))?.parse().ok()?;
        Some(AcceptRoom { inode, port: port.parse().ok()?, waiting_max })
    };
    printed.lines().filter_map(room).collect()
}

/// Returns the accept queues that `ss` printed: `u_str LISTEN 0 511 /run/php.sock 4711 * 0`. Other lines are left out, as are
/// queues without room: those of a kernel that does not report them.
pub(super) fn unix_queues(printed: &str) -> Vec<UnixAcceptQueue> {
    let queue = |line: &str| {
        let fields: Vec<&str> = line.strip_prefix(UNIX_LINE)?.split_ascii_whitespace().collect();
        let [kind, "LISTEN", waiting, waiting_max, path @ .., inode, _, _] = &fields[..] else { return None };
        let queue = UnixAcceptQueue {
            inode: inode.parse().ok()?,
            path: path.join(" "),
            waiting: waiting.parse().ok()?,
            waiting_max: waiting_max.parse().ok()?,
        };
        (kind.starts_with("u_") && 0 < queue.waiting_max).then_some(queue)
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

    const LIMITS: &str = "Max open files            1024                 524288               files     ";

    /// By hand: 2,500 open files are counted again after a pause of 2 readings; processes have their turns.
    #[test]
    fn much_is_counted_rarely_and_all_processes_have_their_turn() {
        let mut counts = RemoteCounts::default();
        let members: BTreeSet<u32> = [10, 11].into();
        assert_eq!(counts.words(&members, false, true), ["+10", ">10,11"]);
        counts.take(10, &texts(&[("open", "2500"), ("limits", LIMITS), ("services", "rows 6100")]));
        assert_eq!(counts.words(&members, true, false), ["unix", "tcp"]);
        assert_eq!(counts.words(&members, true, true), [":10"]);
        counts.take(10, &texts(&[("connections", "1F90 5 3"), ("connections", "rows 3100")]));
        let report = |living: &[u32], counts: &mut RemoteCounts| {
            let mut readings = Vec::new();
            counts.report(&living.iter().copied().collect(), &[8080].into(), "port=8080", &mut readings);
            readings
        };
        let files = |n| {
            [
                Reading::of(Counter::SutOpenFiles, "port=8080", n),
                Reading::of(Counter::SutOpenFilesMax, "port=8080", 1024),
            ]
        };
        let connections =
            [Reading::of(Counter::SutConnections, "8080", 5), Reading::of(Counter::SutAccepted, "8080", 3)];
        assert_eq!(report(&[10, 11], &mut counts), [&files(2500)[..], &connections].concat());
        assert_eq!(counts.words(&members, false, true), ["+11"]);
        counts.take(11, &texts(&[("open", "5"), ("limits", LIMITS)]));
        assert_eq!(report(&[10, 11], &mut counts), files(2500), "connections were counted before");
        assert_eq!(counts.words(&members, false, true), ["+10"]);
        assert_eq!(report(&[11], &mut counts), files(5));
    }

    /// Goal: a count that takes too long does not make all answers late. By hand: pauses of 1, 2, 4 and 8 readings.
    #[test]
    fn a_count_without_an_answer_is_requested_ever_more_rarely() {
        let mut count = PacedCount::default();
        let due: Vec<usize> = (0..20).filter(|_| count.begin()).collect();
        assert_eq!(due, [0, 2, 5, 10, 19]);
        assert!((0..1000).filter(|_| count.begin()).count() < 30);
        assert_eq!(count.pause, PAUSE_MAX);
        count.end(5);
        assert!(count.begin());
    }

    /// By hand: five connections to PostgreSQL and two to PHP, which end later, and three to Redis elsewhere; one to the
    /// system's log does not count.
    #[test]
    fn connections_to_services_are_taken_as_a_whole() {
        let mut counts = RemoteCounts::default();
        let mut take = |lines: &[&str]| {
            let lines: Vec<(&str, &str)> = lines.iter().map(|line| ("services", *line)).collect();
            counts.take(10, &texts(&lines));
            let is_new = counts.take_new_services();
            let services = counts.services().map(|(service, n)| (service.clone(), n));
            (is_new, services.collect::<Vec<_>>())
        };
        let port = |number, is_here| Service::Port { number, is_here };
        let php = Service::Socket("/run/php/php8.2 fpm.sock".to_owned());
        let counted = |n_database, n_redis, n_php| {
            vec![(port(5432, true), n_database), (port(6379, false), n_redis), (php.clone(), n_php)]
        };
        let of_php = "2 socket /run/php/php8.2 fpm.sock";
        let log = "1 socket /run/systemd/journal/stdout";
        let all = take(&["5 here 1538", "3 port 18EB", of_php, log, "6 1538", "rows 2100"]);
        assert_eq!(all, (true, counted(5, 3, 2)));
        assert_eq!(take(&["4 here 1538"]), (false, counted(5, 3, 2)), "cut off");
        assert_eq!(take(&[]), (false, counted(5, 3, 2)));
        assert_eq!(take(&["1 here 1538", "rows 3"]), (true, counted(1, 0, 0)));
        assert_eq!(counts.service_count.pause, 1);
    }

    /// Goal: counting costs a machine the same whether it has one group or two that take turns.
    #[test]
    fn services_are_counted_every_other_reading() {
        let mut counts = RemoteCounts::default();
        let members = [10].into();
        let mut is_counted = |has_turn| {
            let is_due = counts.words(&members, false, has_turn).contains(&">10".to_owned());
            counts.take(10, &texts(if is_due { &[("services", "rows 3")] } else { &[] }));
            is_due
        };
        assert!(is_counted(false), "the first count waits for no turn");
        assert_eq!([true; 4].map(&mut is_counted), [false, true, false, true]);
        assert_eq!([false, true, false, true].map(&mut is_counted), [false, true, false, true]);
    }

    /// Recorded from `ss` of iproute2 6.1; two sockets share a port, as with a socket per worker.
    #[test]
    fn the_room_in_accept_queues_is_that_of_sockets_that_the_group_holds() {
        let printed = "tcp:State  Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess                            \n\
                       tcp:LISTEN 0      511          0.0.0.0:8080       0.0.0.0:*    uid:33 ino:11 sk:c01e cgroup:/ <->\n\
                       tcp:LISTEN 0      511             [::]:8080          [::]:*    ino:12 sk:bff8 cgroup:/ v6only:1 <->\n\
                       tcp:LISTEN 0      128          0.0.0.0:22         0.0.0.0:*    ino:13 sk:1 cgroup:/ <->          \n\
                       tcp:ESTAB  0      4000       127.0.0.1:8080     127.0.0.1:1    ino:11 sk:2\n";
        let rooms = accept_rooms(printed);
        assert_eq!(rooms.len(), 3);
        let mut counts = RemoteCounts::default();
        let mut readings = Vec::new();
        counts.report_rooms(&rooms, &[11, 12].into(), &mut readings);
        counts.report_rooms(&[], &[11, 12].into(), &mut readings);
        assert_eq!(readings, [Reading::of(Counter::AcceptQueueMax, "8080", 1022)]);
    }

    /// Recorded from `ss` of iproute2 6.1.
    #[test]
    fn accept_queues_of_unix_sockets_are_requested_where_the_group_holds_one() {
        let printed = "unix:Netid State  Recv-Q Send-Q                  Local Address:Port  Peer Address:Port\n\
                       unix:u_str LISTEN 3      511               /run/php/php8.2-fpm.sock 4711            * 0          \n\
                       unix:u_seq LISTEN 0      4096                      /run/udev/control 1150             * 0          \n\
                       unix:u_str LISTEN 0      0                                /run/unknown 1151             * 0          \n\
                       unix:u_str LISTEN 0      5                             /tmp/with space 1152             * 0          \n";
        let queues = unix_queues(printed);
        assert_eq!((queues.len(), queues[2].path.as_str()), (3, "/tmp/with space"));
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
        counts.report_unix(&[], &[1].into(), &mut readings);
        assert!(!counts.lacks_unix, "nothing was printed");
        counts.report_unix(&queues, &[1].into(), &mut readings);
        assert!(counts.lacks_unix && readings.len() == 2);
    }
}
