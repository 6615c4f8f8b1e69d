//! A parser of the text format of exporters.
//!
//! It accepts the Prometheus text format 0.0.4 and OpenMetrics 1.0: comments (`# HELP`, `# TYPE`), samples
//! with or without labels, timestamps and exemplars (both ignored), `# EOF`, line ends of either kind.
//! Invalid lines are skipped and counted. Quoted names (`{"any name"}`) are not supported: exporters send
//! them only on request.

use std::borrow::Cow;
use std::fmt;

/// The maximum number of samples of one scrape; a machine of 256 CPUs and 100 disks has some 10,000.
pub const SAMPLES_MAX: usize = 1_000_000;

const BLANKS: [char; 2] = [' ', '\t'];

/// One sample: a line of a scrape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// Name of the metric.
    pub name: &'a str,
    /// Labels, which distinguish samples of one name.
    pub labels: Labels<'a>,
    /// Its value, in the unit that the name says; may be infinite or NaN.
    pub value: f64,
}

/// Labels of a sample, in the order of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels<'a> {
    /// The text between the braces, already validated.
    text: &'a str,
}

/// Invalid lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BadLines {
    /// Their number.
    pub count: usize,
    /// Number of the first, from 1, and its problem.
    pub first: Option<(usize, &'static str)>,
}

/// The samples of a scrape, in order.
#[derive(Debug, Clone)]
pub struct Samples<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    found: usize,
    has_ended: bool,
    bad: BadLines,
}

impl<'a> Samples<'a> {
    /// Creates an iterator over a scrape; accepts any text.
    pub fn new(text: &'a str) -> Samples<'a> {
        Samples { lines: text.lines().enumerate(), found: 0, has_ended: false, bad: BadLines::default() }
    }

    /// Returns the invalid lines so far.
    pub fn bad(&self) -> BadLines {
        self.bad
    }
}

impl<'a> Iterator for Samples<'a> {
    type Item = Sample<'a>;

    fn next(&mut self) -> Option<Sample<'a>> {
        while !self.has_ended {
            let (index, line) = self.lines.next()?;
            let line = line.trim_matches(BLANKS);
            if line.is_empty() || line.starts_with('#') {
                self.has_ended = line == "# EOF";
            } else if self.found == SAMPLES_MAX {
                self.bad.add(index + 1, "expected 1000000 samples at most");
                self.has_ended = true;
            } else {
                match read_sample(line) {
                    Ok(sample) => {
                        self.found += 1;
                        return Some(sample);
                    }
                    Err(problem) => self.bad.add(index + 1, problem),
                }
            }
        }
        None
    }
}

impl<'a> Labels<'a> {
    /// Returns the value of a label; `None` if the sample does not have it.
    pub fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.iter().find(|(label, _)| *label == name).map(|(_, value)| value)
    }

    /// Returns names and values.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        let mut rest = self.text;
        std::iter::from_fn(move || {
            let (label, after) = split_label(rest.trim_start_matches(BLANKS)).ok()?;
            rest = skip(after, ',').unwrap_or("");
            Some((label.name, unescape(label.value)))
        })
    }
}

impl BadLines {
    fn add(&mut self, number: usize, problem: &'static str) {
        self.count += 1;
        self.first.get_or_insert((number, problem));
    }
}

/// Formats them: `line 17: expected a number as value, and 3 more lines`.
impl fmt::Display for BadLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((number, problem)) = self.first else { return f.write_str("none") };
        write!(f, "line {number}: {problem}")?;
        match self.count - 1 {
            0 => Ok(()),
            1 => f.write_str(", and 1 more line"),
            more => write!(f, ", and {more} more lines"),
        }
    }
}

/// A label as written.
struct RawLabel<'a> {
    name: &'a str,
    /// The text between the quotes, with escapes.
    value: &'a str,
}

/// Parses `name{labels} value timestamp # exemplar`; all but name and value are optional.
fn read_sample(line: &str) -> Result<Sample<'_>, &'static str> {
    let (name, rest) = split_name(line, ':').ok_or("expected the name of a metric")?;
    let (labels, rest) = match skip(rest, '{') {
        Some(inside) => split_labels(inside)?,
        None if rest.starts_with(BLANKS) => (Labels::default(), rest),
        None => return Err("expected a blank or `{` after the name"),
    };
    let (value, rest) = split_word(rest);
    let value = value.parse().map_err(|_| "expected a number as value")?;
    check_end(rest)?;
    Ok(Sample { name, labels, value })
}

/// Checks the text after the value: nothing, a timestamp, an exemplar.
fn check_end(rest: &str) -> Result<(), &'static str> {
    let is_end = |text: &str| text.is_empty() || text.starts_with('#');
    let rest = rest.trim_start_matches(BLANKS);
    if is_end(rest) {
        return Ok(());
    }
    let (timestamp, rest) = split_word(rest);
    match timestamp.parse::<f64>() {
        Ok(time) if time.is_finite() && is_end(rest.trim_start_matches(BLANKS)) => Ok(()),
        _ => Err("expected the end of the line or a timestamp after the value"),
    }
}

/// Splits off the text up to the closing brace; also returns the rest.
fn split_labels(inside: &str) -> Result<(Labels<'_>, &str), &'static str> {
    let mut rest = inside.trim_start_matches(BLANKS);
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Ok((Labels { text: &inside[..inside.len() - rest.len()] }, behind));
        }
        let after = split_label(rest)?.1.trim_start_matches(BLANKS);
        rest = match after.strip_prefix(',') {
            Some(next) => next.trim_start_matches(BLANKS),
            None if after.starts_with('}') => after,
            None => return Err("expected `,` or `}` after a label"),
        };
    }
}

/// Splits off `name="value"`.
fn split_label(text: &str) -> Result<(RawLabel<'_>, &str), &'static str> {
    let (name, rest) = split_name(text, '_').ok_or("expected the name of a label")?;
    let rest = skip(rest, '=').ok_or("expected `=` after a label's name")?;
    let quoted = skip(rest, '"').ok_or("expected `\"` before a label's value")?;
    let end = closing_quote(quoted).ok_or("expected `\"` after a label's value")?;
    Ok((RawLabel { name, value: &quoted[..end] }, &quoted[end + 1..]))
}

/// Returns the end of a value: the first quote that is not escaped.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// Splits off a name: letters, digits, `_` and one additional character; no digit first.
fn split_name(text: &str, sign: char) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != sign).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    name.starts_with(|first: char| !first.is_ascii_digit()).then_some((name, rest))
}

/// Skips an expected character.
fn skip(text: &str, sign: char) -> Option<&str> {
    text.trim_start_matches(BLANKS).strip_prefix(sign)
}

/// Splits off the text up to the next blank.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(BLANKS);
    text.split_at(text.find(BLANKS).unwrap_or(text.len()))
}

/// Resolves `\\`, `\"` and `
/// `; other backslashes stand for themselves.
fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escaped)) = rest.split_once('\\') {
        text.push_str(before);
        let (sign, after) = match escaped.as_bytes().first() {
            Some(b'n') => ('\n', &escaped[1..]),
            Some(b'"') => ('"', &escaped[1..]),
            Some(b'\\') => ('\\', &escaped[1..]),
            _ => ('\\', escaped),
        };
        text.push(sign);
        rest = after;
    }
    text.push_str(rest);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns samples as `name label=value… value`, and invalid lines.
    fn read(text: &str) -> (Vec<String>, BadLines) {
        let mut samples = Samples::new(text);
        let lines = samples.by_ref().map(|sample| {
            let labels: Vec<String> =
                sample.labels.iter().map(|(name, value)| format!("{name}={value} ")).collect();
            format!("{} {}{}", sample.name, labels.concat(), sample.value)
        });
        (lines.collect(), samples.bad())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(
            read(text),
            (expected.iter().map(|line| (*line).to_owned()).collect(), BadLines::default())
        );
    }

    #[test]
    fn samples_are_read_with_and_without_labels() {
        check(
            "# HELP node_load1 1m load average.\n# TYPE node_load1 gauge\nnode_load1 0.25\n\
             node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1.41231339e+08\n\
             job:rate:sum { a = \"b\" , c=\"d\", }\t-7 1700000000000\n",
            &[
                "node_load1 0.25",
                "node_cpu_seconds_total cpu=0 mode=idle 141231339",
                "job:rate:sum a=b c=d -7",
            ],
        );
    }

    #[test]
    fn infinities_and_nan_are_values() {
        check("a NaN\na +Inf\na -Inf\na{} 1e-3\n", &["a NaN", "a inf", "a -inf", "a 0.001"]);
    }

    #[test]
    fn escapes_in_labels_are_resolved() {
        check(
            r#"a{path="C:\\dir",say="\"hi\"\n",odd="\x}",comma="1,2"} 1"#,
            &["a path=C:\\dir say=\"hi\"\n odd=\\x} comma=1,2 1"],
        );
        check("a{nic=\"Intel[R] Ethernet – №1\"} 1", &["a nic=Intel[R] Ethernet – №1 1"]);
    }

    #[test]
    fn openmetrics_ends_at_eof() {
        check(
            "# TYPE a counter\r\na_total 17.0 1520879607.789 # {id=\"x\"} 0.5 1520879607.7\r\n\
             a_created 3 # {}\r\n# EOF\r\nb 1\r\n",
            &["a_total 17", "a_created 3"],
        );
    }

    #[test]
    fn bad_lines_are_skipped_and_the_first_is_named() {
        for (line, problem) in [
            ("1a 1", "expected the name of a metric"),
            ("<html>", "expected the name of a metric"),
            ("{\"a\"} 1", "expected the name of a metric"),
            ("a", "expected a blank or `{` after the name"),
            ("a1.5", "expected a blank or `{` after the name"),
            ("a b", "expected a number as value"),
            ("a{b=\"c\"}", "expected a number as value"),
            ("a 1 soon", "expected the end of the line or a timestamp after the value"),
            ("a 1 2 3", "expected the end of the line or a timestamp after the value"),
            ("a{", "expected the name of a label"),
            ("a{b}", "expected `=` after a label's name"),
            ("a{b=c} 1", "expected `\"` before a label's value"),
            ("a{b=\"c} 1", "expected `\"` after a label's value"),
            ("a{b=\"c\\\"} 1", "expected `\"` after a label's value"),
            ("a{b=\"c\" d=\"e\"} 1", "expected `,` or `}` after a label"),
        ] {
            let (samples, bad) = read(&format!("ok 1\n{line}\nok 2\n"));
            assert_eq!(samples, ["ok 1", "ok 2"], "{line}");
            assert_eq!(bad, BadLines { count: 1, first: Some((2, problem)) }, "{line}");
        }
        let bad = read("a\nb 1\nc\n").1;
        assert_eq!(bad.to_string(), "line 1: expected a blank or `{` after the name, and 1 more line");
        assert_eq!(BadLines::default().to_string(), "none");
    }

    #[test]
    fn endless_scrapes_are_cut_off() {
        let text = "a 1\n".repeat(SAMPLES_MAX + 2);
        let mut samples = Samples::new(&text);
        assert_eq!(samples.by_ref().count(), SAMPLES_MAX);
        assert_eq!(samples.bad().first.unwrap().0, SAMPLES_MAX + 1);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "(\\PC|[a{}\",=\\\\ 1#\n\r\t]){0,200}") {
            let mut samples = Samples::new(&text);
            for sample in samples.by_ref() {
                sample.labels.iter().for_each(drop);
            }
            prop_assert!(samples.bad().count <= text.lines().count());
        }

        /// Goal: label values round-trip, whatever they contain.
        #[test]
        fn labels_round_trip(first in any::<String>(), second in "\\PC{0,9}", value in any::<i32>()) {
            let write = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let line = format!("m{{a=\"{}\",b=\"{}\"}} {value}", write(&first), write(&second));
            let sample = Samples::new(&line).next().unwrap();
            prop_assert_eq!(sample.labels.get("a").unwrap(), first.as_str());
            prop_assert_eq!(sample.labels.get("b").unwrap(), second.as_str());
            prop_assert_eq!(sample.labels.get("c"), None);
            prop_assert_eq!(sample.value, f64::from(value));
        }
    }
}
