//! The script for the other machine's shell, and the format of its answers.
//!
//! The shell prints all files at once, then waits for a line on its input before it does so again: each
//! answer is as fresh as its request, however the two machines' clocks run, and the shell ends with its
//! input. One `grep` prints all files, with the file name before every line: 1.2 ms of CPU there for a dozen
//! files, compared with 12.7 ms for a `cat` and a marker per file (dash, GNU grep, two CPUs).

use std::fmt::Write;

use model::Reading;

use super::container_names::{NAME_COMMANDS, PROXY_COMMANDS};
use super::process_view::FIND_COMMANDS;
use super::processes::{CONTAINERS, FIND};
use crate::monitor::Parse;

/// Kernel files and their parsers.
pub(super) type Files = [(&'static str, Parse)];

/// Maximum number of answers: more than a day of seconds.
pub(super) const ANSWERS_MAX: u32 = 100_000;

/// The line between what was found and what was read of processes, in an answer.
pub(super) const FOUND_LINE: &str = "plimsoll-found\n";

/// A function that prints the listening and held TCP sockets of the network of a process, in the form of the kernel's table,
/// and the number of connections in TIME-WAIT. The table itself has a line for each of these, which takes the kernel 3 µs, so
/// that `ss` has it leave them out, where it is installed and the process is in the shell's own network. Ports are in hexadecimal
/// then, too, and the colons of addresses dots.
const SOCKET_COMMANDS: &str = "\
sockets_near() {
if [ /proc/$1/ns/net -ef /proc/self/ns/net ] && command -v ss >/dev/null 2>&1; then
LC_ALL=C ss -t -n -e state established state close-wait state listening 2>/dev/null </dev/null | LC_ALL=C awk '
function place(address, at) {
at = match(address, /:[0-9*]+$/)
host = substr(address, 1, at - 1)
gsub(/:/, \".\", host)
return sprintf(\"%s:%04X\", host, substr(address, at + 1)) }
BEGIN { states[\"ESTAB\"] = \"01\"; states[\"CLOSE-WAIT\"] = \"08\"; states[\"LISTEN\"] = \"0A\" }
$1 in states {
inode = 0
for (i = 6; i <= NF; i++) if ($i ~ /^ino:/) inode = substr($i, 5)
print \"ss\", place($4), place($5), states[$1], 0, 0, 0, 0, 0, inode }' 2>/dev/null
LC_ALL=C cat /proc/$1/net/sockstat 2>/dev/null </dev/null
else
LC_ALL=C cat /proc/$1/net/tcp /proc/$1/net/tcp6 2>/dev/null </dev/null
fi; }
";

/// The commands that print what a request for processes names: `12` the counters of a process, `=12` the CPUs that its
/// threads may use, `12/34` the state of a thread, `@12` the listening sockets near a process, `+12` its open files, `:12`
/// the connections near it by local port, `>12,13` the connections of a group of processes to services outside of it, `unix`
/// and `tcp` listening sockets with the room in their accept queues, a path the file; those of a search print nothing here.
/// Words of a request are not expanded to paths: a control group may have any name.
/// Listening sockets are the first of their table, so that `sed` ends at the first connection. The size of the folder of open
/// files is their number since Linux 6.2, for every user; before, its entries are counted. Of a Unix connection, the end that
/// was accepted has the path, and the other one has `*`. A service is on that machine if both ends have one address, or its
/// own is in 127.0.0.0/8, as a little-endian kernel or `ss` prints it. Of what takes time, eight connections in TIME-WAIT that
/// were left out are one row.
const PROCESS_COMMANDS: &str = "\
set --
statuses=
near=
opened=
tables=
callers=
set -f
for one in $question; do
set +f
case \"$one\" in
find|containers) ;;
/*) set -- \"$@\" \"$one\" ;;
@*) near=\"$near ${one#@}\" ;;
+*) opened=\"$opened ${one#+}\" ;;
:*) tables=\"$tables ${one#:}\" ;;
\\>*) callers=\"$callers ${one#?}\" ;;
unix) LC_ALL=C ss -x -l 2>/dev/null </dev/null | LC_ALL=C sed 's/^/unix:/' ;;
tcp) LC_ALL=C ss -t -l -n -e 2>/dev/null </dev/null | LC_ALL=C sed 's/^/tcp:/' ;;
*/*) set -- \"$@\" /proc/${one%/*}/task/${one#*/}/stat /proc/${one%/*}/task/${one#*/}/wchan ;;
=*) statuses=\"$statuses /proc/${one#=}/task/[0-9]*/status\" ;;
*) set -- \"$@\" /proc/$one/stat /proc/$one/io /proc/$one/task/[0-9]*/schedstat /proc/$one/task/[0-9]*/children ;;
esac
done
set +f
LC_ALL=C grep -s '' \"$@\" /dev/null </dev/null
case \"$statuses\" in
?*) LC_ALL=C grep -s '^Cpus_allowed_list:' $statuses /dev/null </dev/null ;;
esac
for one in $near; do
for table in tcp tcp6; do
LC_ALL=C sed -n -e 1d -e '/:0000 0A /!q' -e \"s|^|/proc/$one/net/$table:|p\" /proc/$one/net/$table 2>/dev/null </dev/null
done
done
for one in $opened; do
set -- $(LC_ALL=C ls -nd /proc/$one/fd 2>/dev/null </dev/null)
case \"$5\" in
''|0) set -- /proc/$one/fd/*; [ -L \"$1\" ] && echo \"/proc/$one/open:$#\" ;;
*) echo \"/proc/$one/open:$5\" ;;
esac
LC_ALL=C sed -n \"s|^Max open files|/proc/$one/limits:&|p\" /proc/$one/limits 2>/dev/null </dev/null
done
for one in $tables; do
sockets_near $one | LC_ALL=C awk -v at=\"/proc/$one/connections:\" '
$1 == \"TCP:\" { waiting = $7; next }
{ port = substr($2, length($2) - 3) }
$4 == \"0A\" { listens[port] = 1 }
$4 == \"01\" || $4 == \"08\" { all[port]++; accepted[port] += ($10 != 0) }
END { for (port in listens) print at port, all[port] + 0, accepted[port] + 0; print at \"rows\", NR + int(waiting / 8) }' 2>/dev/null
done
for one in $callers; do
IFS=,
set -- $one
unset IFS
{ LC_ALL=C ls -l $(printf '/proc/%s/fd ' \"$@\") 2>/dev/null </dev/null | LC_ALL=C sed -n 's/.*socket:\\[\\([0-9]*\\)\\].*/held \\1/p'
LC_ALL=C ss -x -a 2>/dev/null </dev/null
sockets_near $1
} | LC_ALL=C awk -v at=\"/proc/$1/services:\" '
$1 == \"TCP:\" { waiting = $7; next }
$1 == \"held\" { held[$2] = 1; next }
$1 ~ /^u_/ {
path = $5
for (i = 6; i < NF - 2; i++) path = path \" \" $i
if ($2 == \"LISTEN\") { if ($(NF - 2) in held) own[path] = 1 }
else if (path != \"*\") name[$(NF - 2)] = path
else if ($(NF - 2) in held) peer[$(NF - 2)] = $NF
next }
!($10 in held) { next }
{ port = substr($2, length($2) - 3) }
$4 == \"0A\" { own[port] = 1 }
$4 == \"01\" || $4 == \"08\" { local[$10] = $2; remote[$10] = $3 }
END {
for (inode in remote) {
split(local[inode], l, \":\"); split(remote[inode], r, \":\")
here = l[1] == r[1] || r[1] ~ /^(0000000000000000FFFF0000)?......7F$/ || r[1] ~ /^(\\[..ffff.)?127[.]/
if (!(l[2] in own) && !(here && r[2] in own)) n[(here ? \"here \" : \"port \") r[2]]++ }
for (inode in peer) {
path = name[peer[inode]]
if (path != \"\" && !(path in own)) n[\"socket \" path]++ }
for (service in n) print at n[service], service
print at \"rows\", NR + int(waiting / 8) }' 2>/dev/null
done
";

/// Returns the line before an answer; text before it is a greeting.
pub(super) fn begin_line(number: u64) -> String {
    format!("plimsoll-begin {number}\n")
}

/// Returns the line after an answer.
pub(super) fn end_line(number: u64) -> String {
    format!("plimsoll-end {number}\n")
}

/// Returns the script for a POSIX shell that reads it from its standard input.
///
/// The braces make the shell read all of it before it starts, so that later input lines are requests. No
/// request may be sent before the first answer: shells read ahead while they read their script. `/dev/null`
/// ensures that `grep` has at least two files and prints their names.
pub(super) fn script(files: &Files, answers_max: u32) -> String {
    let mut paths = String::new();
    for (path, _) in files {
        let _ = write!(paths, " '{path}'");
    }
    format!(
        "{{\n{SOCKET_COMMANDS}n=0\nquestion=\nwhile [ \"$n\" -lt {answers_max} ]; do\nn=$((n+1))\necho \"plimsoll-begin $n\"\n\
         LC_ALL=C grep -s ''{paths} /dev/null </dev/null\n\
         case \"$question \" in\n*' {CONTAINERS} '*)\n{NAME_COMMANDS};;\nesac\n\
         case \"$question\" in\n{FIND}*)\n{FIND_COMMANDS}{PROXY_COMMANDS}echo {found};;\nesac\n\
         case \"${{question#{FIND}}}\" in\n'') ;;\n*)\n{PROCESS_COMMANDS};;\nesac\n\
         echo \"plimsoll-end $n\"\nread -r question || break\ndone\nexit 0\n}}\n",
        found = FOUND_LINE.trim_end()
    )
}

/// Returns what was printed for answer `number`; `None` without its begin.
pub(super) fn answer_in(printed: &str, number: u64) -> Option<&str> {
    printed.rsplit_once(&begin_line(number)).map(|(_, answer)| answer)
}

/// Parses the output up to the end of answer `number` and appends the readings of its files; accepts any
/// text.
pub(super) fn read_answer(printed: &str, number: u64, files: &Files, into: &mut Vec<Reading>) {
    let Some(answer) = answer_in(printed, number) else { return };
    let mut lines = answer.lines().peekable();
    for (path, parse) in files {
        let of_this_file = |line: &str| Some(line.strip_prefix(path)?.strip_prefix(':')?.to_owned());
        let mut text = String::new();
        while let Some(line) = lines.peek().and_then(|line| of_this_file(line)) {
            text.push_str(&line);
            text.push('\n');
            lines.next();
        }
        if !text.is_empty() {
            parse(&text, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Counter;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::{AsFd, OwnedFd};
    use std::process::{Command, Stdio};

    use crate::monitor::PROC_FILES;

    /// A stand-in for a parser: as many forks as there are lines.
    fn lines(text: &str, into: &mut Vec<Reading>) {
        into.push(Reading::new(Counter::Forks, text.lines().count() as u64));
    }

    /// Another stand-in: as many blocked threads as there are bytes.
    fn bytes(text: &str, into: &mut Vec<Reading>) {
        into.push(Reading::new(Counter::Blocked, text.len() as u64));
    }

    const TWO: &Files = &[("/proc/a", lines), ("/proc/a6", bytes)];

    #[track_caller]
    fn check(printed: &str, expected: &[Reading]) {
        let mut readings = Vec::new();
        read_answer(printed, 7, TWO, &mut readings);
        assert_eq!(readings, expected);
    }

    /// Runs the script in a shell that gets `questions` requests after its first answer; returns its output.
    fn run(files: &Files, answers_max: u32, questions: usize) -> String {
        let mut shell = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = shell.stdin.take().unwrap();
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        input.write_all(script(files, answers_max).as_bytes()).unwrap();
        let mut printed = String::new();
        while !printed.ends_with(&end_line(1)) {
            assert_ne!(output.read_line(&mut printed).unwrap(), 0, "{printed}");
        }
        // A shell that has ended closes its input.
        let _ = input.write_all("\n".repeat(questions).as_bytes());
        drop(input);
        output.read_to_string(&mut printed).unwrap();
        assert!(shell.wait().unwrap().success());
        printed
    }

    #[test]
    fn each_parser_gets_the_lines_of_its_file() {
        check(
            "Welcome!\nplimsoll-begin 7\n/proc/a:x: 1\n/proc/a:\n/proc/a6:yz\nplimsoll-end 7\n",
            &[Reading::new(Counter::Forks, 2), Reading::new(Counter::Blocked, 3)],
        );
    }

    #[test]
    fn a_missing_file_is_not_parsed() {
        check("plimsoll-begin 7\n/proc/a6:yz\nplimsoll-end 7\n", &[Reading::new(Counter::Blocked, 3)]);
        check("plimsoll-begin 7\nplimsoll-end 7\n", &[]);
        check("plimsoll-begin 6\n/proc/a:1\nplimsoll-end 6\n", &[]);
    }

    #[test]
    fn the_shell_answers_once_and_once_per_request() {
        for questions in [0, 2] {
            let printed = run(&[("/proc/version", lines)], 100, questions);
            assert_eq!(printed.matches("plimsoll-end").count(), questions + 1, "{printed}");
            assert!(printed.starts_with("plimsoll-begin 1\n/proc/version:Linux"), "{printed}");
            let mut readings = Vec::new();
            read_answer(&printed, questions as u64 + 1, &[("/proc/version", lines)], &mut readings);
            assert_eq!(readings, [Reading::new(Counter::Forks, 1)]);
        }
    }

    /// Runs the function for this process; with `programs`, the shell finds no others. Returns whether `ss` was run, and ports,
    /// state and number of each socket.
    fn sockets_near(programs: Option<&[&str]>) -> (bool, BTreeSet<[String; 4]>) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("/bin/sh");
        for name in programs.unwrap_or_default() {
            let path = std::env::var_os("PATH").unwrap();
            let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|one| one.exists());
            std::os::unix::fs::symlink(found.unwrap(), folder.path().join(name)).unwrap();
            command.env("PATH", folder.path());
        }
        let output = command.arg("-c").arg(format!("{SOCKET_COMMANDS}sockets_near {}", std::process::id()));
        let text = String::from_utf8(output.output().unwrap().stdout).unwrap();
        let port = |field: &str| Some(field.rsplit_once(':')?.1.to_owned());
        let line = |line: &str| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let local = port(fields.get(1)?)?;
            let remote = port(fields.get(2)?)?;
            Some([local, remote, (*fields.get(3)?).to_owned(), (*fields.get(9)?).to_owned()])
        };
        (text.starts_with("ss "), text.lines().filter_map(line).collect())
    }

    /// Goal: with and without `ss`, listeners and connections of either version of IP have the same ports, states and numbers.
    #[test]
    fn sockets_are_printed_alike_with_and_without_ss() {
        let mut expected = BTreeSet::new();
        let mut held: Vec<OwnedFd> = Vec::new();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let ends = [&client.local_addr().unwrap(), &listener.local_addr().unwrap()];
            let [near, far] = ends.map(|end| format!("{:04X}", end.port()));
            let number = |socket: &dyn AsFd| rustix::fs::fstat(socket.as_fd()).unwrap().st_ino.to_string();
            expected.extend([
                [far.clone(), "0000".to_owned(), "0A".to_owned(), number(&listener)],
                [near.clone(), far.clone(), "01".to_owned(), number(&client)],
                // Nobody accepts it.
                [far, near, "01".to_owned(), "0".to_owned()],
            ]);
            held.extend([OwnedFd::from(listener), client.into()]);
        }
        for programs in [None, Some(&["cat", "awk"][..])] {
            let (has_ss, found) = sockets_near(programs);
            assert_eq!(has_ss, programs.is_none(), "install it with `apt-get install iproute2`");
            let missing: Vec<_> = expected.difference(&found).collect();
            assert!(missing.is_empty(), "{missing:?} in {found:?}, {programs:?}");
        }
    }

    #[test]
    fn the_shell_ends_with_its_input_and_after_its_last_answer() {
        for (questions, answers) in [(0, 1), (50, 3)] {
            assert_eq!(run(&[], 3, questions).matches("plimsoll-end").count(), answers);
        }
    }

    #[test]
    fn the_paths_of_kernel_files_need_no_quoting() {
        for (path, _) in PROC_FILES {
            assert!(
                path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-.".contains(&byte)),
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed_without_panic(text in "(plimsoll-begin 1\n|/proc/[a-z/]{1,8}:|\\PC|\n){0,40}") {
            read_answer(&text, 1, PROC_FILES, &mut Vec::new());
        }
    }
}
