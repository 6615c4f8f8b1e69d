//! The lines of a filelist, of either format: words, sizes, and their positions.

use std::ops::Range;

/// A word and its position in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilelistWord<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl FilelistWord<'_> {
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn is_number(self) -> bool {
        self.text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    }
}

/// A line that is neither empty nor a comment.
#[derive(Debug)]
pub(super) struct FilelistLine<'a> {
    /// The first word.
    pub(super) first: FilelistWord<'a>,
    /// The other words before the first `#`.
    pub(super) rest: Vec<FilelistWord<'a>>,
    /// The text after the first `#`, trimmed.
    pub(super) size: Option<FilelistWord<'a>>,
    /// The whole line, trimmed.
    pub(super) span: Range<usize>,
}

/// Returns the lines with content.
pub(super) fn content_lines(text: &str) -> impl Iterator<Item = FilelistLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        content(trimmed(line, at))
    })
}

/// Parses a line; `None` if it is empty or a comment.
fn content(line: FilelistWord<'_>) -> Option<FilelistLine<'_>> {
    let (before, size) = match line.text.split_once('#') {
        Some((before, after)) => (before, Some(trimmed(after, line.start + before.len() + 1))),
        None => (line.text, None),
    };
    let place = |word: &str| line.start + (word.as_ptr().addr() - line.text.as_ptr().addr());
    let mut words = before.split_whitespace().map(|word| FilelistWord { text: word, start: place(word) });
    Some(FilelistLine { first: words.next()?, rest: words.collect(), size, span: line.span() })
}

fn trimmed(text: &str, start: usize) -> FilelistWord<'_> {
    FilelistWord { text: text.trim(), start: start + text.len() - text.trim_start().len() }
}
