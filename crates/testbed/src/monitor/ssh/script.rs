//! What the other machine's shell is told to do, and what it answers.
//!
//! The shell prints all files at once, then waits for a line on its input before it does so again: each answer is as
//! fresh as the question, however the two machines' clocks run, and a shell that nobody asks any more ends with its
//! input. One `grep` prints all files, with the name of its file before every line: 1.2 ms of CPU there for a dozen
//! files, where a `cat` and a marker for each took 12.7 ms (dash, GNU grep, two CPUs).

use std::fmt::Write;

use model::Reading;

use crate::monitor::Parse;

/// Kernel files and what reads each.
pub type Files = [(&'static str, Parse)];

/// How often the other machine answers at most: more than a day of seconds.
pub const ANSWERS_MAX: u32 = 100_000;

/// Returns the line before an answer; what comes before it is a greeting.
pub fn begin_line(number: u64) -> String {
    format!("plimsoll-begin {number}\n")
}

/// Returns the line after an answer.
pub fn end_line(number: u64) -> String {
    format!("plimsoll-end {number}\n")
}

/// Returns the program for a POSIX shell that reads it from its standard input.
///
/// The braces make the shell read all of it before it begins, so that what follows on its input are questions. None may
/// be asked before the first answer: shells read ahead as long as they read their program.
/// `/dev/null` is there so that `grep` has two files at least and names them.
pub fn script(files: &Files, answers_max: u32) -> String {
    let mut paths = String::new();
    for (path, _) in files {
        let _ = write!(paths, " '{path}'");
    }
    format!(
        "{{\nn=0\nwhile [ \"$n\" -lt {answers_max} ]; do\nn=$((n+1))\necho \"plimsoll-begin $n\"\n\
         LC_ALL=C grep -s ''{paths} /dev/null </dev/null\necho \"plimsoll-end $n\"\n\
         read -r question || break\ndone\nexit 0\n}}\n"
    )
}

/// Reads what was printed up to the end of answer `number` and appends what the files tell; any text will do.
pub fn read_answer(printed: &str, number: u64, files: &Files, into: &mut Vec<Reading>) {
    let Some((_, answer)) = printed.rsplit_once(&begin_line(number)) else { return };
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
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};

    use crate::monitor::PROC_FILES;

    /// Stands for a parser: as many forks as there are lines.
    fn lines(text: &str, into: &mut Vec<Reading>) {
        into.push(Reading::new(Counter::Forks, text.lines().count() as u64));
    }

    /// Stands for another: as many blocked threads as there are bytes.
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

    /// Runs the script in a shell that is asked `questions` times after its first answer; returns what it prints.
    fn run(files: &Files, answers_max: u32, questions: usize) -> String {
        let mut shell = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = shell.stdin.take().unwrap();
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        input.write_all(script(files, answers_max).as_bytes()).unwrap();
        let mut printed = String::new();
        while !printed.ends_with(&end_line(1)) {
            assert_ne!(output.read_line(&mut printed).unwrap(), 0, "{printed}");
        }
        // A shell that has enough closes its input.
        let _ = input.write_all("\n".repeat(questions).as_bytes());
        drop(input);
        output.read_to_string(&mut printed).unwrap();
        assert!(shell.wait().unwrap().success());
        printed
    }

    #[test]
    fn each_file_gets_its_own_lines() {
        check(
            "Welcome!\nplimsoll-begin 7\n/proc/a:x: 1\n/proc/a:\n/proc/a6:yz\nplimsoll-end 7\n",
            &[Reading::new(Counter::Forks, 2), Reading::new(Counter::Blocked, 3)],
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_not_read() {
        check("plimsoll-begin 7\n/proc/a6:yz\nplimsoll-end 7\n", &[Reading::new(Counter::Blocked, 3)]);
        check("plimsoll-begin 7\nplimsoll-end 7\n", &[]);
        check("plimsoll-begin 6\n/proc/a:1\nplimsoll-end 6\n", &[]);
    }

    #[test]
    fn the_shell_answers_once_and_once_more_per_question() {
        for questions in [0, 2] {
            let printed = run(&[("/proc/version", lines)], 100, questions);
            assert_eq!(printed.matches("plimsoll-end").count(), questions + 1, "{printed}");
            assert!(printed.starts_with("plimsoll-begin 1\n/proc/version:Linux"), "{printed}");
            let mut readings = Vec::new();
            read_answer(&printed, questions as u64 + 1, &[("/proc/version", lines)], &mut readings);
            assert_eq!(readings, [Reading::new(Counter::Forks, 1)]);
        }
    }

    #[test]
    fn the_shell_ends_with_its_input_and_after_its_last_answer() {
        for (questions, answers) in [(0, 1), (50, 3)] {
            assert_eq!(run(&[], 3, questions).matches("plimsoll-end").count(), answers);
        }
    }

    #[test]
    fn the_paths_of_kernel_files_mean_nothing_to_a_shell() {
        for (path, _) in PROC_FILES {
            assert!(
                path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-.".contains(&byte)),
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read(text in "(plimsoll-begin 1\n|/proc/[a-z/]{1,8}:|\\PC|\n){0,40}") {
            read_answer(&text, 1, PROC_FILES, &mut Vec::new());
        }
    }
}
