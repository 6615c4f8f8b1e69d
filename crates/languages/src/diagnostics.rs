//! Diagnostics of texts that people write: each has a message, a position and a hint.

use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;

use crate::credentials::credential_spans;
use crate::foreign::{escaped, is_terminal_control};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// The most mistakes of one text that are shown: a file of the wrong kind has one in every line.
const SHOWN_MAX: usize = 20;

/// One mistake in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The message: `unknown key `steddy` in `phases``.
    pub message: String,
    /// The position of the mistake, in bytes from the start of the text.
    pub span: Range<usize>,
    /// The text beside the pointer; may be empty.
    pub label: String,
    /// The remedy, if there is one.
    pub hint: Option<String>,
}

/// All mistakes that were found in one text; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    /// The name of the file, as the user knows it.
    pub file_name: String,
    /// The whole text.
    pub text: String,
    /// The mistakes, in the order of the text.
    pub problems: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Collects the mistakes of a text, in the order of the text. Quoted parts are escaped for a terminal, and their
    /// credentials are masked.
    pub fn new(file_name: &str, text: &str, mut problems: Vec<Diagnostic>) -> Diagnostics {
        for problem in &mut problems {
            problem.message = printable(&problem.message);
            problem.label = printable(&problem.label);
            problem.hint = problem.hint.as_deref().map(printable);
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        Diagnostics { file_name: printable(file_name), text: masked(text), problems }
    }

    /// Returns line and column (in characters), both from 1, at which a mistake begins.
    pub fn position(&self, problem: &Diagnostic) -> (usize, usize) {
        let before = &self.text[..self.boundary(problem.span.start)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// Writes the mistakes for people: message, file and line, a pointer to the position, and the hint. With `color`,
    /// terminal colors are used.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let shown = self.problems.iter().take(SHOWN_MAX);
        let mut reports: Vec<String> = shown.map(|problem| renderer.render(&[self.group(problem)])).collect();
        if SHOWN_MAX < self.problems.len() {
            reports.push(format!("error: {} more like these", self.problems.len() - SHOWN_MAX));
        }
        reports.join("\n\n")
    }

    /// Writes the mistakes for a log: a line for each, and its hint on a line of its own.
    pub fn brief(&self) -> String {
        let mut lines: Vec<String> =
            self.problems.iter().take(SHOWN_MAX).map(|problem| self.line(problem)).collect();
        if SHOWN_MAX < self.problems.len() {
            lines.push(format!("{} more like these", self.problems.len() - SHOWN_MAX));
        }
        lines.join("\n")
    }

    fn line(&self, problem: &Diagnostic) -> String {
        let (line, column) = self.position(problem);
        let mut text = format!("`{}:{line}:{column}`: {}", self.file_name, problem.message);
        if !problem.label.is_empty() {
            text = format!("{text}: {}", problem.label);
        }
        match &problem.hint {
            Some(hint) => format!("{text}\nhint: {hint}"),
            None => text,
        }
    }

    fn group<'a>(&'a self, problem: &'a Diagnostic) -> Group<'a> {
        let start = self.boundary(problem.span.start);
        let end = self.boundary(problem.span.end.max(start));
        let pointer = AnnotationKind::Primary.span(start..end).label(problem.label.as_str());
        let snippet = Snippet::source(self.text.as_str()).path(self.file_name.as_str()).annotation(pointer);
        let group = Level::ERROR.primary_title(problem.message.as_str()).element(snippet);
        match &problem.hint {
            Some(hint) => group.element(Level::HELP.with_name("hint").message(hint.as_str())),
            None => group,
        }
    }

    /// Returns the nearest character boundary at or before `at`.
    fn boundary(&self, at: usize) -> usize {
        self.text.floor_char_boundary(at.min(self.text.len()))
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// Returns a text of the same layout, with asterisks for credentials and question marks for terminal control
/// characters.
fn masked(text: &str) -> String {
    let is_kept = |c: char| matches!(c, '\n' | '\r' | '\t') || !is_terminal_control(c);
    let mut masked = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) {
            masked.push(c);
        } else {
            masked.extend(std::iter::repeat_n('?', c.len_utf8()));
        }
    }
    for span in credential_spans(text) {
        masked.replace_range(span.clone(), &"*".repeat(span.len()));
    }
    masked
}

/// Returns a message as one line, with terminal control characters as escapes.
fn printable(text: &str) -> String {
    escaped(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Returns the candidate with the smallest edit distance, if it is small enough for a typing mistake; of several, the
/// one with the same beginning.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(written, candidate);
    let in_common =
        |candidate: &str| written.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
    let order = |candidate: &&str| (distance(candidate), Reverse(in_common(candidate)));
    let best = candidates.into_iter().min_by_key(order)?;
    (distance(best) <= (best.len().max(written.len()) / 3).max(1)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mistake_is_shown_with_file_line_pointer_and_hint() {
        let text = "one = 1\ntow = 2\n";
        let problem = Diagnostic {
            message: "unknown key `tow`".into(),
            span: 8..11,
            label: "not a key".into(),
            hint: Some("did you mean `two`?".into()),
        };
        let diagnostics = Diagnostics::new("my.toml", text, vec![problem.clone()]);
        assert_eq!(diagnostics.position(&problem), (2, 1));
        insta::assert_snapshot!(diagnostics, @r"
        error: unknown key `tow`
         --> my.toml:2:1
          |
        2 | tow = 2
          | ^^^ not a key
          |
          = hint: did you mean `two`?
        ");
    }

    #[test]
    fn a_mistake_takes_a_line_and_one_for_its_hint_in_a_log() {
        let problem = |span, label: &str, hint: Option<&str>| Diagnostic {
            message: "`two` is not valid".into(),
            span,
            label: label.into(),
            hint: hint.map(str::to_owned),
        };
        let problems = vec![problem(14..15, "expected 1, found 2", Some("write 1")), problem(0..3, "", None)];
        insta::assert_snapshot!(Diagnostics::new("my.toml", "one = 1\ntwo = 2\n", problems).brief(), @r"
        `my.toml:1:1`: `two` is not valid
        `my.toml:2:7`: `two` is not valid: expected 1, found 2
        hint: write 1
        ");
        let many = vec![problem(0..3, "", None); 23];
        assert!(Diagnostics::new("f", "one = 1\n", many).brief().ends_with("\n3 more like these"));
    }

    #[test]
    fn suggestions_cover_only_typing_mistakes() {
        let keys = ["ramp-up", "settle", "steady"];
        assert_eq!(nearest("steddy", keys), Some("steady"));
        assert_eq!(nearest("ramp_up", keys), Some("ramp-up"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest("site-2.0", ["site-1.1", "site-2.0.1"]), Some("site-2.0.1"));
    }

    #[test]
    fn a_text_cannot_control_the_terminal() {
        let problem = Diagnostic {
            message: "unknown key `\u{1b}[2J`".into(),
            span: 0..3,
            label: "\u{7}".into(),
            hint: Some("\u{9b}1m".into()),
        };
        let text = "\u{1b}[2J\u{7} = 1 # \u{9b}2J \u{202e}\r\n";
        let shown = Diagnostics::new("f\u{9b}", text, vec![problem]).to_string();
        assert!(shown.chars().all(|c| c == '\n' || !is_terminal_control(c)), "{shown:?}");
    }

    #[test]
    fn a_credential_beside_a_mistake_is_masked() {
        let text = "headers = { Authorization = \"Bearer abc\", X = 5 }\n";
        let problem = Diagnostic { message: "m".into(), span: 46..47, label: String::new(), hint: None };
        let shown = Diagnostics::new("f", text, vec![problem]).to_string();
        assert!(shown.contains("Authorization = \"**********\", X = 5"), "{shown}");
    }

    proptest! {
        #[test]
        fn any_span_in_any_text_can_be_shown(text in "\\PC*|(?s).*", start: u8, length: u8) {
            let span = usize::from(start)..usize::from(start) + usize::from(length);
            let problem = Diagnostic { message: "m".into(), span, label: "l".into(), hint: None };
            let diagnostics = Diagnostics::new("f", &text, vec![problem.clone()]);
            prop_assert!(diagnostics.to_string().contains('m'));
            diagnostics.position(&problem);
        }
    }
}
