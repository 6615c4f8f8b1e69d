//! Words as cmd, the command interpreter of Windows, and its C library make them of a text.
//!
//! Two programs read a command line there, one after the other: cmd ends commands and takes carets away, which stand for
//! nothing within its quotes; then the C library of the program splits words, where only quotes and backslashes before
//! them count. A percent sign stands for itself: what browsers copy keeps variables from being found.

use super::shell::ShellCommand;
use super::{CurlFault, PlacedCurlFault};

/// Returns whether a text is quoted for cmd: a caret stands before a quote or at the end of a line, outside of what bash
/// would take for quotes.
pub(super) fn is_cmd(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some('"') | None, '\\') => {
                rest.next();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '^') if matches!(rest.peek(), Some('"' | '\r' | '\n')) => return true,
            _ => {}
        }
    }
    false
}

/// Splits a text into commands.
///
/// # Errors
/// The first pipe or redirection, or a quote that is not closed.
pub(super) fn commands(text: &str) -> Result<Vec<ShellCommand>, PlacedCurlFault> {
    let text = text.replace("\r\n", "\n");
    let mut all = Vec::new();
    let mut line = 1;
    let mut start = 1;
    let mut is_quoted = false;
    let mut command = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        line += usize::from(c == '\n');
        match c {
            '\n' => {
                is_quoted = false;
                end(&mut command, start, &mut all)?;
                start = line;
            }
            '"' => {
                is_quoted = !is_quoted;
                command.push('"');
            }
            '^' if !is_quoted => {
                let mut next = rest.next();
                if next == Some('\n') {
                    // The line goes on, and what follows the break stands for itself.
                    line += 1;
                    next = rest.next();
                    line += usize::from(next == Some('\n'));
                }
                command.extend(next);
            }
            '&' if !is_quoted => {
                end(&mut command, start, &mut all)?;
                start = line;
            }
            '|' | '<' | '>' if !is_quoted => {
                return Err(PlacedCurlFault { line, fault: CurlFault::Operator(c) });
            }
            c => command.push(c),
        }
    }
    end(&mut command, start, &mut all)?;
    Ok(all)
}

/// Ends a command, whose first line is `line`.
fn end(command: &mut String, line: usize, all: &mut Vec<ShellCommand>) -> Result<(), PlacedCurlFault> {
    let words = words(&std::mem::take(command)).map_err(|fault| PlacedCurlFault { line, fault })?;
    if !words.is_empty() {
        all.push(ShellCommand { line, words });
    }
    Ok(())
}

/// Splits a command into words: 2n backslashes before a quote are n, one more keeps the quote as a character, and two quotes
/// within quotes are one character.
fn words(command: &str) -> Result<Vec<String>, CurlFault> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut rest = command.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' if !is_quoted => words.extend(word.take()),
            '\0' => return Err(CurlFault::Nul),
            '\\' => {
                let mut n = 1;
                while rest.next_if_eq(&'\\').is_some() {
                    n += 1;
                }
                let is_before_quote = rest.peek() == Some(&'"');
                let kept = if is_before_quote { n / 2 } else { n };
                let word = word.get_or_insert_default();
                word.extend(std::iter::repeat_n('\\', kept));
                if is_before_quote && n % 2 == 1 {
                    word.extend(rest.next());
                }
            }
            '"' if is_quoted && rest.peek() == Some(&'"') => word.get_or_insert_default().extend(rest.next()),
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    if is_quoted {
        return Err(CurlFault::OpenQuote("\""));
    }
    words.extend(word);
    Ok(words)
}
