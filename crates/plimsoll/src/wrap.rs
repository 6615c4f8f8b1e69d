//! Prose on a terminal: lines are broken between words, so that no terminal cuts one.

use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Indentation of continued lines, beyond that of the line itself.
const HANGING: usize = 2;

/// Returns the width of a terminal; `None` if this is not one, or its width is unknown.
pub(crate) fn terminal_width(output: impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(output).ok()?;
    (0 < size.ws_col).then_some(usize::from(size.ws_col))
}

/// Breaks every line that is wider than the terminal; without one, nothing is broken. What stands in backquotes stays
/// together, so that a command can be copied.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let lines = text.split('\n').map(|line| wrapped_line(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mut text = line[..indent].to_owned();
    let mut used = indent;
    let mut is_first = true;
    for word in words(&line[indent..]) {
        let length = word.chars().count();
        if !is_first && width < used + 1 + length {
            text.push('\n');
            text.push_str(&" ".repeat(indent + HANGING));
            used = indent + HANGING;
        } else if !is_first {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
        is_first = false;
    }
    text
}

/// Splits at blanks outside of backquotes.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '`' => is_quoted = !is_quoted,
            ' ' if !is_quoted => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_cut_and_a_command_stays_whole() {
        let text = "  hint: spread the load over more machines; `plimsoll run URL -c 20` offers less";
        let expected =
            "  hint: spread the load over more\n    machines;\n    `plimsoll run URL -c 20` offers\n    less";
        assert_eq!(wrapped(text, Some(35)), expected);
        assert_eq!(wrapped(text, None), text);
        assert_eq!(wrapped("a b\nlonger-than-the-width c", Some(8)), "a b\nlonger-than-the-width\n  c");
    }

    #[test]
    fn every_line_fits_and_all_words_remain() {
        let text = "INVALID: no load point is valid, so there is no headline.\n  load points 1 to 4: p99 3.74 ms – µs";
        for width in 14..100 {
            let wrapped = wrapped(text, Some(width));
            assert!(wrapped.lines().all(|line| line.chars().count() <= width), "{width}:\n{wrapped}");
            assert!(wrapped.split_whitespace().eq(text.split_whitespace()), "{width}:\n{wrapped}");
        }
    }
}
