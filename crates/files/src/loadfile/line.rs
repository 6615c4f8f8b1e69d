//! The parts of a line, numbers, statuses, and the table of operations.

use units::Nanos;

use super::LoadProblem;
use crate::Expectation;

/// The most characters of a line.
pub(super) const LINE_BYTES_MAX: usize = 1023;

/// The most parts of a line.
pub(super) const TOKENS_MAX: usize = 19;

/// The longest time, some thirty years.
const SECONDS_MAX: u64 = 1_000_000_000;

/// An operation of load files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperationName {
    Create,
    Close,
    Write,
    Read,
    Rename,
    Unlink,
    RemoveTree,
    MakeFolder,
    RemoveFolder,
    PathQuery,
    FileQuery,
    VolumeQuery,
    Set,
    Find,
    Flush,
    Lock,
    Unlock,
    Sleep,
}

/// A row of the table of operations.
pub(super) struct KnownOperation {
    pub(super) name: &'static str,
    pub(super) operation: OperationName,
    /// The number of arguments before the status.
    pub(super) n_arguments: usize,
}

const fn row(name: &'static str, operation: OperationName, n_arguments: usize) -> KnownOperation {
    KnownOperation { name, operation, n_arguments }
}

/// The operations, with their arguments (dbench 4.0, `fileio.c`; the last is one of smbtorture).
pub(super) const OPERATIONS: [KnownOperation; 18] = [
    row("NTCreateX", OperationName::Create, 4),
    row("Close", OperationName::Close, 1),
    row("WriteX", OperationName::Write, 4),
    row("ReadX", OperationName::Read, 4),
    row("Rename", OperationName::Rename, 2),
    row("Unlink", OperationName::Unlink, 2),
    row("Deltree", OperationName::RemoveTree, 1),
    row("Mkdir", OperationName::MakeFolder, 1),
    row("Rmdir", OperationName::RemoveFolder, 1),
    row("QUERY_PATH_INFORMATION", OperationName::PathQuery, 2),
    row("QUERY_FILE_INFORMATION", OperationName::FileQuery, 2),
    row("QUERY_FS_INFORMATION", OperationName::VolumeQuery, 1),
    row("SET_FILE_INFORMATION", OperationName::Set, 2),
    row("FIND_FIRST", OperationName::Find, 4),
    row("Flush", OperationName::Flush, 1),
    row("LockX", OperationName::Lock, 3),
    row("UnlockX", OperationName::Unlock, 3),
    row("Sleep", OperationName::Sleep, 1),
];

/// Directives of dbench 5 that change what the operations after them mean.
const UNSUPPORTED: [&str; 4] = ["RANDOMSTRING", "SETSP", "WAITSP", "WRITEPATTERN"];

/// A line in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// An empty line, or a comment.
    Nothing,
    /// A line without a status, which is no operation: skipped, as dbench does.
    Skipped,
    /// The number of times that the next line is there.
    Repeat(u64),
    /// The begin of a loop, with the number of its turns.
    Loop(u64),
    /// The end of a loop.
    LoopEnd,
    /// A pause.
    Sleep(Nanos),
    /// An operation.
    Operation(OperationLine<'a>),
}

/// An operation in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OperationLine<'a> {
    /// The time since the begin of the loop over the file.
    pub(super) at: Option<Nanos>,
    pub(super) operation: OperationName,
    pub(super) arguments: Vec<&'a str>,
    pub(super) expected: Expectation,
}

/// Reads a line, without its end.
pub(super) fn parts(line: &str) -> Result<Line<'_>, LoadProblem> {
    let mut tokens = tokens(line)?;
    let first_is_time =
        tokens.first().is_some_and(|first| first.starts_with(|next: char| next.is_ascii_digit()));
    let at = if first_is_time { Some(timestamp(tokens.remove(0))?) } else { None };
    let Some(&name) = tokens.first() else { return Ok(Line::Nothing) };
    if name.starts_with('#') {
        return Ok(Line::Nothing);
    }
    if let Some(directive) = directive(name, &tokens)? {
        return Ok(directive);
    }
    let status = tokens.last().and_then(|last| status(last));
    let Some(expected) = status.filter(|_| 2 <= tokens.len()) else { return Ok(Line::Skipped) };
    let known = known(name)?;
    tokens.pop();
    tokens.remove(0);
    let arguments = tokens;
    if arguments.len() != known.n_arguments {
        let expected = known.n_arguments;
        let found = arguments.len();
        return Err(LoadProblem::Arguments { operation: known.name, expected, found });
    }
    Ok(Line::Operation(OperationLine { at, operation: known.operation, arguments, expected }))
}

/// Returns the parts between spaces; what is in quotes is one part, with its quotes.
fn tokens(line: &str) -> Result<Vec<&str>, LoadProblem> {
    let mut tokens = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = match rest.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map_or(rest.len(), |end| end + 2),
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(end);
        if tokens.len() == TOKENS_MAX {
            return Err(LoadProblem::TooManyParts);
        }
        tokens.push(token);
        rest = behind.trim_start();
    }
    Ok(tokens)
}

/// Reads seconds with decimals, of which the first nine count.
fn timestamp(text: &str) -> Result<Nanos, LoadProblem> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, ""));
    if !decimals.chars().all(|digit| digit.is_ascii_digit()) {
        return Err(LoadProblem::NotANumber(text.to_owned()));
    }
    let decimals = decimals.chars().chain(std::iter::repeat('0')).take(9);
    let nanos = decimals.fold(0, |nanos, digit| 10 * nanos + u64::from(digit.to_digit(10).unwrap_or(0)));
    Ok(Nanos::from_secs(below_decimal(seconds, SECONDS_MAX)?) + Nanos(nanos))
}

/// Reads a decimal number from 0 to `most`, also with zeros before it.
fn below_decimal(text: &str, most: u64) -> Result<u64, LoadProblem> {
    let digits = text.trim_start_matches('0');
    below(if digits.is_empty() { "0" } else { digits }, most)
}

fn directive<'a>(name: &str, tokens: &[&'a str]) -> Result<Option<Line<'a>>, LoadProblem> {
    let argument = || tokens.get(1).ok_or_else(|| LoadProblem::Directive(name.to_owned()));
    let count = || match below(argument()?, i64::MAX as u64)? {
        0 => Err(LoadProblem::NoTurns(name.to_owned())),
        count => Ok(count),
    };
    match name {
        "REPEAT" => Ok(Some(Line::Repeat(count()?))),
        "LOOP" => Ok(Some(Line::Loop(count()?))),
        "ENDLOOP" => Ok(Some(Line::LoopEnd)),
        "SLEEP" => Ok(Some(Line::Sleep(micros(argument()?)?))),
        _ if UNSUPPORTED.contains(&name) => Err(LoadProblem::Directive(name.to_owned())),
        _ => Ok(None),
    }
}

/// Reads a pause in microseconds.
pub(super) fn micros(text: &str) -> Result<Nanos, LoadProblem> {
    Ok(Nanos::from_micros(below(text, SECONDS_MAX * 1_000_000)?))
}

fn known(name: &str) -> Result<&'static KnownOperation, LoadProblem> {
    if let Some(known) = OPERATIONS.iter().find(|known| known.name == name) {
        return Ok(known);
    }
    let is_upper = |next: char| next.is_ascii_uppercase() || next.is_ascii_digit();
    if name.starts_with("SMB") {
        return Err(LoadProblem::Version1(name.to_owned()));
    }
    if name.ends_with(['3', '4']) && name.chars().all(is_upper) {
        return Err(LoadProblem::Nfs(name.to_owned()));
    }
    Err(LoadProblem::UnknownOperation(name.to_owned()))
}

/// Returns what a status means; `None` if the text is no status.
fn status(text: &str) -> Option<Expectation> {
    let of_code = |is_success: bool| if is_success { Expectation::Success } else { Expectation::Failure };
    match text {
        "*" => Some(Expectation::Any),
        "SUCCESS" | "NT_STATUS_OK" => Some(Expectation::Success),
        "ERROR" => Some(Expectation::Failure),
        _ if text.starts_with("NT_STATUS_") => Some(Expectation::Failure),
        _ => {
            let code = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
            Some(of_code(code == 0))
        }
    }
}

/// Reads a number as C's `strtoll` does with base 0, but for what follows it: decimal, octal with `0`, hexadecimal
/// with `0x`.
pub(super) fn number(text: &str) -> Result<i64, LoadProblem> {
    let (is_negative, unsigned) = text.strip_prefix('-').map_or((false, text), |unsigned| (true, unsigned));
    let (radix, digits) = match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None if 1 < unsigned.len() && unsigned.starts_with('0') => (8, &unsigned[1..]),
        None => (10, unsigned),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(LoadProblem::NotANumber(text.to_owned()));
    }
    let signed = |magnitude| {
        if is_negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
    };
    let number = u64::from_str_radix(digits, radix).ok().and_then(signed);
    number.ok_or_else(|| LoadProblem::NumberOutside { found: text.to_owned(), most: i64::MAX as u64 })
}

/// Reads a number from 0 to `most`.
pub(super) fn below(text: &str, most: u64) -> Result<u64, LoadProblem> {
    let number = u64::try_from(number(text)?).ok().filter(|number| *number <= most);
    number.ok_or_else(|| LoadProblem::NumberOutside { found: text.to_owned(), most })
}

/// Reads a path in quotes, and returns it with `/` between its parts, without one at its beginning.
pub(super) fn path(text: &str) -> Result<String, LoadProblem> {
    let bad = || LoadProblem::BadPath(text.to_owned());
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(bad)?;
    let parts = inner.strip_prefix('\\').ok_or_else(bad)?;
    let is_bad = |part: &str| part.is_empty() || part == "." || part == ".." || part.contains(['/', '\0']);
    if !parts.is_empty() && parts.split('\\').any(is_bad) {
        return Err(bad());
    }
    Ok(parts.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        let texts = ["0", "017", "0x1f", "0X1F", "-5", "9223372036854775807", "-9223372036854775808"];
        let numbers = texts.map(|text| number(text).unwrap());
        assert_eq!(numbers, [0, 15, 31, 31, -5, i64::MAX, i64::MIN]);
        for text in ["", "-", "x", "08", "0x", "1a", "+4", "*/4096", "12 "] {
            assert_eq!(number(text), Err(LoadProblem::NotANumber(text.to_owned())), "{text}");
        }
        for text in ["9223372036854775808", "0x8000000000000000", "99999999999999999999999"] {
            assert!(matches!(number(text), Err(LoadProblem::NumberOutside { .. })), "{text}");
        }
        assert!(matches!(below("-1", 10), Err(LoadProblem::NumberOutside { most: 10, .. })));
        assert_eq!((below("10", 10), below("11", 10).is_err()), (Ok(10), true));
    }

    #[test]
    fn statuses_say_what_must_come() {
        let texts = [
            "NT_STATUS_OK",
            "0x0",
            "0x00000000",
            "SUCCESS",
            "*",
            "ERROR",
            "NT_STATUS_NO_SUCH_FILE",
            "0xC0000034",
        ];
        let expected = texts.map(|text| status(text).unwrap());
        use Expectation::{Any, Failure, Success};
        assert_eq!(expected, [Success, Success, Success, Success, Any, Failure, Failure, Failure]);
        assert_eq!(["12", "OK", "0x", "0xg", ""].map(status), [None; 5]);
    }

    #[test]
    fn paths_have_slashes_and_cannot_lead_out() {
        assert_eq!(path(r#""\clients\client1\a b.txt""#).unwrap(), "clients/client1/a b.txt");
        assert_eq!(path(r#""\""#).unwrap(), "");
        for text in [
            r#""\a\..\b""#,
            r#""\..""#,
            r#""a""#,
            r"\a",
            r#""\a\\b""#,
            r#""\a/../../b""#,
            r#""\a"#,
            r#""\a\""#,
        ] {
            assert!(path(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lines_without_a_status_are_skipped_and_comments_are_nothing() {
        assert_eq!(parts(""), Ok(Line::Nothing));
        assert_eq!(parts("  # NTCreateX"), Ok(Line::Nothing));
        assert_eq!(parts("Close 12"), Ok(Line::Skipped));
        assert_eq!(parts("Close"), Ok(Line::Skipped));
        assert_eq!(parts("Foo 12"), Ok(Line::Skipped));
    }

    #[test]
    fn times_and_quoted_parts_are_found() {
        let line = parts(r#"1.250 Rename "\a b" "\c" NT_STATUS_OK"#).unwrap();
        let expected = OperationLine {
            at: Some(Nanos::from_millis(1250)),
            operation: OperationName::Rename,
            arguments: vec![r#""\a b""#, r#""\c""#],
            expected: Expectation::Success,
        };
        assert_eq!(line, Line::Operation(expected));
        let time = |text| timestamp(text).map(|time| time.0);
        assert_eq!(
            (time("0"), time("007.0000000019"), time("12.")),
            (Ok(0), Ok(7_000_000_001), Ok(12_000_000_000))
        );
        assert!(time("1.2x").is_err() && time("1e9").is_err() && time("2000000000").is_err());
        assert_eq!(parts("SLEEP 1500"), Ok(Line::Sleep(Nanos::from_micros(1500))));
        assert_eq!(parts("REPEAT 3"), Ok(Line::Repeat(3)));
    }

    #[test]
    fn what_is_no_operation_of_these_load_files_is_named() {
        let problem = |line| parts(line).unwrap_err();
        assert_eq!(problem("Frob 1 NT_STATUS_OK"), LoadProblem::UnknownOperation("Frob".to_owned()));
        assert_eq!(problem("SMBclose 1 NT_STATUS_OK"), LoadProblem::Version1("SMBclose".to_owned()));
        assert_eq!(problem("READ3 \"/a\" 0 4 0x0"), LoadProblem::Nfs("READ3".to_owned()));
        assert_eq!(problem("SETSP 1"), LoadProblem::Directive("SETSP".to_owned()));
        let arguments = LoadProblem::Arguments { operation: "Close", expected: 1, found: 2 };
        assert_eq!(problem("Close 1 2 NT_STATUS_OK"), arguments);
        assert_eq!(problem(&"a ".repeat(20)), LoadProblem::TooManyParts);
    }
}
