//! The output of a test binary.

use std::collections::BTreeSet;

/// The time from start to end of a test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TestTime {
    pub seconds: f64,
    pub binary: String,
    pub test: String,
}

/// Parses the numbers of passed and failed tests: `test result: ok. 3 passed; 0 failed; …`.
pub(super) fn counts(text: &str) -> (usize, usize) {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("test result: ")).unwrap_or_default();
    let number = |word: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let index = words.iter().position(|one| one.trim_end_matches(';') == word)?;
        words.get(index.checked_sub(1)?)?.parse().ok()
    };
    (number("passed").unwrap_or(0), number("failed").unwrap_or(0))
}

/// Parses the results of tests, `test NAME ... ok <0.123s>`: name, word, and time in s. Without `--report-time` there is
/// none.
fn results(text: &str) -> impl Iterator<Item = (&str, &str, Option<f64>)> {
    text.lines().filter_map(|line| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let (word, time) = result.split_once(' ').unwrap_or((result, ""));
        let seconds = time.strip_prefix('<').and_then(|time| time.strip_suffix("s>")?.parse().ok());
        // `#[should_panic]` is appended to the name.
        Some((name.trim_end_matches(" - should panic"), word, seconds))
    })
}

/// Returns the names of the tests that failed.
pub(super) fn failures(text: &str) -> Vec<String> {
    let failed = results(text).filter(|(_, word, _)| *word == "FAILED");
    failed.map(|(name, ..)| name.to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the times of the tests of a binary.
pub(super) fn times(binary: &str, text: &str) -> Vec<TestTime> {
    let timed = results(text).filter_map(|(name, _, seconds)| Some((name, seconds?)));
    timed
        .map(|(name, seconds)| TestTime { seconds, binary: binary.to_owned(), test: name.to_owned() })
        .collect()
}

/// Returns a line for each of the slowest tests, the slowest first.
pub(super) fn slowest(mut times: Vec<TestTime>, n: usize) -> String {
    times.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    times.truncate(n);
    let lines = times.iter().map(|time| format!("  {:>6.1} s  {} {}", time.seconds, time.binary, time.test));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\nrunning 3 tests\ntest a::b ... ok <1.250s>\ntest a::c ... FAILED <0.003s>\n\
        test d - should panic ... FAILED <2.000s>\n\nfailures:\n\n---- a::c stdout ----\ntest fake\n\nfailures:\n    a::c\n    d\n\n\
        test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

    #[test]
    fn the_output_of_a_test_binary_is_parsed() {
        assert_eq!(counts(TEXT), (1, 2));
        assert_eq!(failures(TEXT), ["a::c", "d"]);
        assert_eq!(failures("test a ... FAILED\n"), ["a"]);
        assert_eq!(counts("thread 'main' panicked\n"), (0, 0));
    }

    #[test]
    fn the_slowest_tests_are_listed_with_their_times() {
        assert_eq!(slowest(times("x/all", TEXT), 2), "     2.0 s  x/all d\n     1.2 s  x/all a::b");
        assert_eq!(times("x/all", "test a ... ok\n"), []);
    }
}
