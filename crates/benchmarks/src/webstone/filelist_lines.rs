//! The lines of a filelist, of either format: words, sizes, and where they stand.

use std::ops::Range;

/// A word and where it stands in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Word<'_> {
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn is_number(self) -> bool {
        self.text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    }
}

/// A line that is neither empty nor a comment.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The first word.
    pub(super) first: Word<'a>,
    /// The other words before the first `#`.
    pub(super) rest: Vec<Word<'a>>,
    /// What follows the first `#`, without white space around it.
    pub(super) size: Option<Word<'a>>,
    /// The whole line, without white space around it.
    pub(super) span: Range<usize>,
}

/// Returns the lines that say something.
pub(super) fn content_lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        content(trimmed(line, at))
    })
}

/// Returns what a line says; `None` if it is empty or a comment.
fn content(line: Word<'_>) -> Option<Line<'_>> {
    let (before, size) = match line.text.split_once('#') {
        Some((before, after)) => (before, Some(trimmed(after, line.start + before.len() + 1))),
        None => (line.text, None),
    };
    let place = |word: &str| line.start + (word.as_ptr().addr() - line.text.as_ptr().addr());
    let mut words = before.split_whitespace().map(|word| Word { text: word, start: place(word) });
    Some(Line { first: words.next()?, rest: words.collect(), size, span: line.span() })
}

fn trimmed(text: &str, start: usize) -> Word<'_> {
    Word { text: text.trim(), start: start + text.len() - text.trim_start().len() }
}
