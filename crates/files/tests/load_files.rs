//! Load files: mistakes with their lines, directives, printing, replay.

use std::io::Write;
use std::sync::Arc;

use files::{
    FileAnswer, FilePath, FileStep, HANDLES_MAX, LINES_MAX, LoadFile, LoadFileError, LoadProblem,
    ReplayClient,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use units::Nanos;

const SMALL: &str = r#"# A comment
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1\a" 0x40 0x1 9 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\clients\client1\a" 0x40 0x2 17 NT_STATUS_OK
WriteX 17 65534 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 17 258 NT_STATUS_OK
ReadX 17 0 4096 4096 NT_STATUS_OK
LockX 17 2147483538 1 0x0
UnlockX 17 2147483538 1 SUCCESS
Close 17 NT_STATUS_OK
Rename "\clients\client1\a" "\clients\client1\b c" *
FIND_FIRST "\clients\client1\<.JNK" 260 1366 0 NT_STATUS_NO_SUCH_FILE
"#;

fn read(text: &str) -> Result<LoadFile, LoadFileError> {
    LoadFile::read(text.as_bytes())
}

/// Returns the line and the problem.
fn mistake(text: &str) -> (u64, LoadProblem) {
    let LoadFileError { line, problem } = read(text).unwrap_err();
    assert!(!problem.hint().is_empty());
    (line, problem)
}

/// The log of a client's steps, with these answers and then only successes.
fn log(text: &str, answers: &[FileAnswer], n_steps: usize) -> Vec<String> {
    let load = Arc::new(read(text).unwrap());
    let mut client = ReplayClient::new(Arc::clone(&load), 3);
    let mut answers = answers.iter().copied();
    let mut answer = None;
    (0..n_steps)
        .map(|_| match client.next(answer.take()) {
            FileStep::Perform(operation) => {
                answer = Some(answers.next().unwrap_or(FileAnswer::Done));
                operation.to_string()
            }
            step => format!("{step:?}"),
        })
        .collect()
}

#[test]
fn operations_are_read_with_what_must_come() {
    let expected = [
        "remove tree captured/c3/0",
        "make folder captured/c3/1",
        "open 0: captured/c3/2 !",
        "create or open 0: captured/c3/2",
        "write 0: 1 at 65534",
        "file query 258: 0",
        "read 0: 4096 at 0",
        "lock 0: 1 at 2147483538",
        "unlock 0: 1 at 2147483538",
        "close 0",
        "rename captured/c3/2: captured/c3/3 ?",
        "find 1366: captured/c3/4 !",
        "UnitEnd",
        "remove tree captured/c3/0",
    ];
    assert_eq!(log(SMALL, &[], 14), expected);
}

#[test]
fn paths_are_those_of_the_client() {
    let load = read(SMALL).unwrap();
    let mut texts = Vec::new();
    for text in 0..5 {
        let mut path = String::new();
        load.path(files::CapturedPath { client: 42, text }, &mut path);
        texts.push(path);
    }
    let expected = [
        "clients/client42",
        "clients",
        "clients/client42/a",
        "clients/client42/b c",
        "clients/client42/<.JNK",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn a_compressed_file_is_the_same() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(SMALL.as_bytes()).unwrap();
    let compressed = encoder.finish().unwrap();
    assert_eq!(LoadFile::read(&compressed[..]), read(SMALL));
    let cut = LoadFile::read(&compressed[..compressed.len() - 12]).unwrap_err();
    assert!(matches!(cut.problem, LoadProblem::Unreadable(_)), "{cut}");
}

#[test]
fn mistakes_have_their_line_and_a_remedy() {
    let open = "NTCreateX \"\\a\" 0 2 5 NT_STATUS_OK\n";
    let outside = |found: &str, most| LoadProblem::NumberOutside { found: found.to_owned(), most };
    let table = [
        ("Frobnicate 1 NT_STATUS_OK", LoadProblem::UnknownOperation("Frobnicate".to_owned())),
        ("SMBopen 1 NT_STATUS_OK", LoadProblem::Version1("SMBopen".to_owned())),
        ("WRITE3 \"/a\" 0 1 0x0", LoadProblem::Nfs("WRITE3".to_owned())),
        ("Close 6 NT_STATUS_OK", LoadProblem::HandleNotOpen(6)),
        ("ReadX 5 0x8000000000000000 1 1 NT_STATUS_OK", outside("0x8000000000000000", i64::MAX as u64)),
        ("ReadX 5 9223372036854775807 1 1 NT_STATUS_OK", outside("9223372036854775807", i64::MAX as u64 - 1)),
        ("ReadX 5 -1 1 1 NT_STATUS_OK", outside("-1", i64::MAX as u64)),
        ("WriteX 5 0 9000000 9000000 NT_STATUS_OK", outside("9000000", 8 << 20)),
        ("ReadX 5 */4096 1 1 NT_STATUS_OK", LoadProblem::NotANumber("*/4096".to_owned())),
        ("WriteX 5 0 10 9 NT_STATUS_OK", LoadProblem::PartialWrite { expected: 10, found: 9 }),
        ("Unlink \"\\..\\etc\" 0 NT_STATUS_OK", LoadProblem::BadPath("\"\\..\\etc\"".to_owned())),
        ("Flush 5 6 NT_STATUS_OK", LoadProblem::Arguments { operation: "Flush", expected: 1, found: 2 }),
        ("SETSP 1", LoadProblem::Directive("SETSP".to_owned())),
        ("ENDLOOP", LoadProblem::Loops),
    ];
    for (line, problem) in table {
        assert_eq!(mistake(&format!("{open}\n{line}\n")), (3, problem), "{line}");
    }
    assert_eq!(mistake("# nothing\n"), (2, LoadProblem::NoOperations));
    assert_eq!(mistake("SLEEP 5\n"), (2, LoadProblem::NoOperations));
    assert_eq!(mistake(&format!("LOOP 2\n{open}")), (3, LoadProblem::Loops));
}

#[test]
fn a_message_says_the_line_and_the_hint_says_the_remedy() {
    let error = read("Deltree \"\\a\" NT_STATUS_OK\nFlush 3 NT_STATUS_OK\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2: the handle 3 is not open");
    let hint = "add the `NTCreateX` that opens it, with `NT_STATUS_OK`, or remove the line";
    assert_eq!(error.problem.hint(), hint);
    let unknown = read("Frob \"\\a\" NT_STATUS_OK\n").unwrap_err();
    assert!(unknown.problem.hint().starts_with("known operations: NTCreateX, Close, WriteX"));
}

/// A handle is open from its `NTCreateX` with success to its `Close`, not after one that must fail.
#[test]
fn handles_are_followed() {
    let close = "Close 5 NT_STATUS_OK\n";
    let missing = "NTCreateX \"\\a\" 0 1 5 NT_STATUS_OBJECT_NAME_NOT_FOUND\n";
    assert_eq!(mistake(&format!("{missing}{close}")), (2, LoadProblem::HandleNotOpen(5)));
    let open = "NTCreateX \"\\a\" 0 1 5 NT_STATUS_OK\n";
    assert_eq!(mistake(&format!("{open}{close}{close}")), (3, LoadProblem::HandleNotOpen(5)));
    let many: String =
        (0..=HANDLES_MAX).map(|n| format!("NTCreateX \"\\a\" 0 1 {n} NT_STATUS_OK\n")).collect();
    assert_eq!(mistake(&many), (HANDLES_MAX as u64 + 1, LoadProblem::TooManyHandles));
}

/// A line of 1 MB is not kept; nor are more lines, written out, than a file may have.
#[test]
fn sizes_are_limited() {
    assert_eq!(mistake(&format!("Deltree \"\\{}\" *", "a".repeat(1 << 20))), (1, LoadProblem::LineTooLong));
    let line = format!("Deltree \"\\{}\" *", "a".repeat(1023 - 12 - 1));
    assert_eq!((line.len(), read(&line).map(|load| load.n_lines())), (1023, Ok(1)));
    assert_eq!(mistake(&format!("\n{line} \n")), (2, LoadProblem::LineTooLong));
    let operation = "Deltree \"\\a\" *\n";
    assert_eq!(mistake(&format!("REPEAT {}\n{operation}", LINES_MAX + 1)).1, LoadProblem::TooManyLines);
    assert_eq!(mistake(&format!("LOOP {}\n{operation}ENDLOOP\n", i64::MAX)).1, LoadProblem::TooManyLines);
    assert_eq!(mistake(&format!("{}{operation}", "LOOP 1000000\n".repeat(17))), (17, LoadProblem::Loops));
    assert_eq!(mistake("\u{0}\n").1, LoadProblem::NoOperations);
    let bytes = LoadFile::read(&[b'C', 0xff, b'\n'][..]).unwrap_err();
    assert_eq!((bytes.line, bytes.problem), (1, LoadProblem::NotText));
}

/// Loops of dbench 5 are written out, also in each other, and a repetition is of one line.
#[test]
fn loops_are_written_out() {
    let text =
        "LOOP 2\nREPEAT 3\nMkdir \"\\a\" *\nLOOP 2\nRmdir \"\\a\" *\nENDLOOP\nENDLOOP\nDeltree \"\\a\" *\n";
    let load = read(text).unwrap();
    let kinds: String = (0..load.n_lines())
        .map(|line| &load.operation(line, 0).unwrap().kind().name()[..3])
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(load.n_lines(), 11);
    let names = load.to_string();
    let first: String = names.lines().map(|line| &line[..1]).collect();
    assert_eq!(first, "MMMRRMMMRRD");
    assert!(kinds.starts_with("mak mak mak rem"));
    assert_eq!(mistake("LOOP 0\n"), (1, LoadProblem::NoTurns("LOOP".to_owned())));
    assert_eq!(mistake("REPEAT 0\n"), (1, LoadProblem::NoTurns("REPEAT".to_owned())));
}

/// A handle that a turn closes must have been opened in it: it is not open in the second turn.
#[test]
fn handles_are_followed_through_loops() {
    let open = "NTCreateX \"\\a\" 0 2 5 NT_STATUS_OK\n";
    let close = "Close 5 NT_STATUS_OK\n";
    assert_eq!(read(&format!("LOOP 3\n{open}{close}ENDLOOP\n")).unwrap().n_lines(), 6);
    assert_eq!(read(&format!("{open}LOOP 3\n{close}{open}ENDLOOP\n{close}")).unwrap().n_lines(), 8);
    assert_eq!(mistake(&format!("{open}LOOP 2\n{close}ENDLOOP\n")), (4, LoadProblem::ClosedInLoop));
    assert_eq!(read(&format!("{open}LOOP 1\n{close}ENDLOOP\n")).unwrap().n_lines(), 2);
    assert_eq!(mistake(&format!("{open}REPEAT 2\n{close}")), (3, LoadProblem::ClosedInLoop));
}

#[test]
fn times_and_pauses_are_kept() {
    let text = "0.5 Mkdir \"\\a\" *\nSLEEP 1500\nSleep 7 NT_STATUS_OK\n1.25 Rmdir \"\\a\" *\n";
    let expected = [
        format!("{:?}", FileStep::PauseUntil(Nanos::from_millis(500))),
        "make folder captured/c3/0 ?".to_owned(),
        format!("{:?}", FileStep::Pause(Nanos::from_micros(1500))),
        format!("{:?}", FileStep::Pause(Nanos::from_micros(7))),
        format!("{:?}", FileStep::PauseUntil(Nanos::from_millis(1250))),
        "remove folder captured/c3/0 ?".to_owned(),
        "UnitEnd".to_owned(),
    ];
    assert_eq!(log(text, &[], 7), expected);
}

#[test]
fn lines_without_a_status_are_skipped_and_counted() {
    let load = read(&format!("Close 5\nnonsense\n{SMALL}")).unwrap();
    assert_eq!((load.n_skipped(), load.n_lines()), (2, 12));
}

const ONE_FILE: &str = "NTCreateX \"\\a\" 0 2 5 NT_STATUS_OK\nReadX 5 0 1 1 NT_STATUS_OK\nWriteX 5 0 1 1 NT_STATUS_OK\n\
                        Close 5 NT_STATUS_OK\nUnlink \"\\a\" 6 NT_STATUS_OK\n";

/// A handle that could not be opened is left out until it is opened again.
#[test]
fn a_handle_that_is_not_open_is_not_used() {
    let opened = "create or open 0: captured/c3/0";
    let expected = [opened, "unlink captured/c3/0", "UnitEnd", opened, "read 0: 1 at 0", "write 0: 1 at 0"];
    assert_eq!(log(ONE_FILE, &[FileAnswer::Failed], 6), expected);
    let lost = [FileAnswer::Done, FileAnswer::SessionLost];
    assert_eq!(log(ONE_FILE, &lost, 3), [opened, "read 0: 1 at 0", "unlink captured/c3/0"]);
}

/// As with dbench, a read that fails is passed over, and a write that fails is the end.
#[test]
fn a_failed_write_and_wrong_bytes_stop_a_client() {
    let failed = [FileAnswer::Done, FileAnswer::Failed, FileAnswer::Failed];
    assert_eq!(log(ONE_FILE, &failed, 5)[1..], ["read 0: 1 at 0", "write 0: 1 at 0", "Leave", "Leave"]);
    let wrong = [FileAnswer::Done, FileAnswer::WrongBytes];
    assert_eq!(log(ONE_FILE, &wrong, 3)[2], "Leave");
}

/// A line of a load file on which at most two handles are used.
fn any_line() -> impl Strategy<Value = String> {
    let path = "[a-z ~.<*]{0,8}[a-z]".prop_map(|name| format!("\"\\client1\\{name}\""));
    let status =
        prop::sample::select(vec!["NT_STATUS_OK", "NT_STATUS_NO_SUCH_FILE", "*", "0x0", "0xC0000034"]);
    let time = prop::option::of(0_u32..1_000_000);
    let offset = prop_oneof![0_u64..1_000_000, (1_u64 << 62)..(1 << 63) - 10_000_000];
    (time, path.clone(), path, status, offset, 0_u32..70_000, 1_u64..3, 0_usize..17).prop_map(
        |(time, path, other, status, offset, size, handle, operation)| {
            let line = match operation {
                0 => format!("NTCreateX {path} {size:#x} {:#x} {handle} {status}", size % 6),
                1 => format!("Close {handle} {status}"),
                2 => format!("ReadX {handle} {offset} {size} {size} {status}"),
                3 => format!("WriteX {handle} {offset:#x} {size} {size} {status}"),
                4 => format!("Rename {path} {other} {status}"),
                5 => format!("Unlink {path} {size} {status}"),
                6 => format!("Deltree {path} {status}"),
                7 => format!("Mkdir {path} {status}"),
                8 => format!("Rmdir {path} {status}"),
                9 => format!("QUERY_PATH_INFORMATION {path} {} {status}", size % 65_536),
                10 => format!("QUERY_FILE_INFORMATION {handle} 258 {status}"),
                11 => format!("QUERY_FS_INFORMATION 0{:o} {status}", size % 65_536),
                12 => format!("SET_FILE_INFORMATION {handle} 1004 {status}"),
                13 => format!("FIND_FIRST {path} 260 {size} 11 {status}"),
                14 => format!("Flush {handle} {status}"),
                15 => format!("LockX {handle} {offset} {size} {status}"),
                _ => format!("UnlockX {handle} {offset} {size} {status}"),
            };
            time.map_or(line.clone(), |micros| format!("{}.{:06} {line}", micros / 1000, micros % 1000))
        },
    )
}

/// A file that opens two handles, and then has those of the lines that are right where they come.
fn right_file(lines: Vec<String>) -> String {
    let mut text = "NTCreateX \"\\a\" 0 2 1 NT_STATUS_OK\nNTCreateX \"\\b\" 0 2 2 NT_STATUS_OK\n".to_owned();
    for line in lines {
        let longer = format!("{text}{line}\n");
        if read(&longer).is_ok() {
            text = longer;
        }
    }
    text
}

proptest! {
    /// Any bytes are read, or refused with a line.
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = LoadFile::read(&bytes[..]);
    }

    /// So are any words.
    #[test]
    fn any_lines_are_survived(lines in prop::collection::vec(any_line(), 0..30)) {
        let _ = read(&lines.join("\n"));
    }

    /// A file that is read and printed is read again as the same, and printed the same.
    #[test]
    fn what_is_printed_is_read_again(lines in prop::collection::vec(any_line(), 1..60)) {
        let first = read(&right_file(lines)).unwrap();
        let printed = first.to_string();
        let again = read(&printed).unwrap();
        prop_assert_eq!(&again, &first);
        prop_assert_eq!(again.to_string(), printed);
    }

    /// A replay uses no handle that is not open, whatever fails.
    #[test]
    fn a_replay_uses_open_handles(
        lines in prop::collection::vec(any_line(), 1..40),
        answers in prop::collection::vec(0_u8..8, 200),
    ) {
        let mut client = ReplayClient::new(Arc::new(read(&right_file(lines)).unwrap()), 0);
        let mut open = std::collections::BTreeSet::new();
        let mut answer = None;
        for number in answers {
            if let FileStep::Perform(operation) = client.next(answer.take()) {
                prop_assert!(operation.uses().is_none_or(|handle| open.contains(&handle)), "{}", operation);
                let given = match number {
                    0 => FileAnswer::Failed,
                    1 => FileAnswer::SessionLost,
                    _ => FileAnswer::Done,
                };
                match given {
                    FileAnswer::SessionLost => open.clear(),
                    FileAnswer::Done => {
                        open.extend(operation.opens());
                        if let Some(handle) = operation.closes() {
                            open.remove(&handle);
                        }
                    }
                    _ => {
                        if let Some(handle) = operation.opens() {
                            open.remove(&handle);
                        }
                    }
                }
                answer = Some(given);
            }
        }
    }
}

#[test]
fn captured_paths_are_values() {
    let load = read(SMALL).unwrap();
    let Some(operation) = load.operation(0, 9) else { panic!() };
    let files::FileAction::RemoveTree(FilePath::Captured(path)) = operation.action else { panic!() };
    assert_eq!((path.client, path.text, load.operation(12, 9)), (9, 0, None));
}
