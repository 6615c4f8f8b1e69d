//! The lexical rules of SQL as each product has them: what is text of its own in a statement, and what is SQL.
//!
//! The products read statements in this way with their standard settings: PostgreSQL with `standard_conforming_strings`,
//! MariaDB without `ANSI_QUOTES` and `NO_BACKSLASH_ESCAPES`.
//!
//! Source: the documentation of PostgreSQL 15, "Lexical Structure"; that of MariaDB, "Comment Syntax", "String Literals".

use std::ops::Range;

use super::order_entry::DatabaseProduct;

/// A rule: a text of its own, from its opening to its end.
#[derive(Debug, Clone, Copy)]
struct Lexeme {
    open: &'static str,
    close: &'static str,
    /// The further marks of its beginning and end.
    traits: &'static [Trait],
}

/// A property of a text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trait {
    /// It is a comment: whatever it has within is passed over.
    Comment,
    /// Comments of the kind stand within each other.
    Nests,
    /// A backslash takes the meaning from what follows it.
    Backslash,
    /// It begins only where no word or number goes on.
    NewWord,
    /// It begins only before a space, a control character, or the end.
    BeforeSpace,
}

use Trait::{Backslash, BeforeSpace, Comment, Nests, NewWord};

const fn lexeme(open: &'static str, close: &'static str, traits: &'static [Trait]) -> Lexeme {
    Lexeme { open, close, traits }
}

/// The rules of PostgreSQL besides dollar quotes.
const POSTGRESQL: &[Lexeme] = &[
    lexeme("--", "\n", &[Comment]),
    lexeme("/*", "*/", &[Comment, Nests]),
    lexeme("E'", "'", &[Backslash, NewWord]),
    lexeme("e'", "'", &[Backslash, NewWord]),
    lexeme("'", "'", &[]),
    lexeme("\"", "\"", &[]),
];

/// The rules of MariaDB besides executable comments.
const MARIADB: &[Lexeme] = &[
    lexeme("--", "\n", &[Comment, BeforeSpace]),
    lexeme("#", "\n", &[Comment]),
    lexeme("/*", "*/", &[Comment]),
    lexeme("'", "'", &[Backslash]),
    lexeme("\"", "\"", &[Backslash]),
    lexeme("`", "`", &[]),
];

/// The openings of executable comments, whose content is SQL.
const EXECUTABLE: [&str; 2] = ["/*!", "/*M!"];

/// The versions of MySQL whose executable comments MariaDB passes over. Source: MariaDB's "Comment Syntax".
const OF_MYSQL: Range<u32> = 50_700..100_000;

/// Returns the ranges of a statement that are SQL, without strings, quoted names and comments.
pub(super) fn code_ranges(sql: &str, product: DatabaseProduct) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let mut at = 0;
    let mut n_executable = 0_usize;
    while at < sql.len() {
        let end = match product {
            DatabaseProduct::PostgreSql => end_of(sql, at, POSTGRESQL).or_else(|| end_of_dollars(sql, at)),
            DatabaseProduct::MariaDb => match executable_begin(sql, at) {
                Some(begin) => {
                    n_executable += 1;
                    Some(begin)
                }
                None if 0 < n_executable && sql[at..].starts_with("*/") => {
                    n_executable -= 1;
                    Some(at + 2)
                }
                None => end_of(sql, at, MARIADB),
            },
        };
        match end {
            Some(end) => {
                ranges.push(from..at);
                (from, at) = (end, end);
            }
            None => at += sql[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    ranges.push(from..sql.len());
    ranges.retain(|range| range.start < range.end);
    ranges
}

/// The beginnings of comments, and the end of those whose content is SQL.
const COMMENTS: [&str; 4] = ["--", "/*", "#", "*/"];

/// Returns the first word of a statement as SQL reads it, in lower case, behind comments and opening parentheses.
pub(super) fn first_word(sql: &str, product: DatabaseProduct) -> String {
    let mut end = 0;
    for range in code_ranges(sql, product) {
        // A string or a quoted name is no word.
        let between = &sql[end..range.start];
        if !between.is_empty() && !COMMENTS.iter().any(|begin| between.starts_with(begin)) {
            break;
        }
        let code = sql[range.clone()].trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let word = code.bytes().take_while(u8::is_ascii_alphabetic).count();
        if !code.is_empty() {
            return code[..word].to_ascii_lowercase();
        }
        end = range.end;
    }
    String::new()
}

/// Returns whether a word or a number goes on at a place.
fn is_within_word(sql: &str, at: usize) -> bool {
    sql[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// Returns the end of the text of its own that begins at a place; `None` where none does.
fn end_of(sql: &str, at: usize, lexemes: &[Lexeme]) -> Option<usize> {
    let begins = |lexeme: &&Lexeme| {
        let Some(rest) = sql[at..].strip_prefix(lexeme.open) else { return false };
        let is_before_space = rest.chars().next().is_none_or(|c| c.is_whitespace() || c.is_control());
        (!lexeme.traits.contains(&NewWord) || !is_within_word(sql, at))
            && (!lexeme.traits.contains(&BeforeSpace) || is_before_space)
    };
    let lexeme = lexemes.iter().find(begins)?;
    let has = |one: Trait| lexeme.traits.contains(&one);
    let mut end = at + lexeme.open.len();
    let mut depth = 1;
    while let Some(next) = sql[end..].chars().next() {
        let rest = &sql[end..];
        let doubled = || rest[lexeme.close.len()..].starts_with(lexeme.close);
        if rest.starts_with(lexeme.close) {
            end += lexeme.close.len();
            match depth {
                1 if !has(Comment) && doubled() => end += lexeme.close.len(),
                1 => return Some(end),
                _ => depth -= 1,
            }
        } else if has(Nests) && rest.starts_with(lexeme.open) {
            (end, depth) = (end + lexeme.open.len(), depth + 1);
        } else {
            end += next.len_utf8();
            if next == '\\' && has(Backslash) {
                end += sql[end..].chars().next().map_or(0, char::len_utf8);
            }
        }
    }
    // It has no end, which the server says.
    Some(sql.len())
}

/// Returns the end of a dollar-quoted text, `$$…$$` or `$tag$…$tag$`, that begins at a place.
fn end_of_dollars(sql: &str, at: usize) -> Option<usize> {
    let rest = sql[at..].strip_prefix('$')?;
    let tag = &rest[..rest.find('$')?];
    let is_tag = tag
        .chars()
        .enumerate()
        .all(|(index, c)| c == '_' || if index == 0 { c.is_alphabetic() } else { c.is_alphanumeric() });
    if !is_tag || is_within_word(sql, at) {
        return None;
    }
    let (open, rest) = sql[at..].split_at(tag.len() + 2);
    Some(rest.find(open).map_or(sql.len(), |length| at + 2 * open.len() + length))
}

/// Returns the place behind the opening of an executable comment of MariaDB, and behind its version.
fn executable_begin(sql: &str, at: usize) -> Option<usize> {
    let open = EXECUTABLE.iter().find(|open| sql[at..].starts_with(**open))?;
    let version = &sql[at + open.len()..];
    let n_digits = version.bytes().take_while(u8::is_ascii_digit).count();
    // Five digits, or six.
    let n_digits = if (5..=6).contains(&n_digits) { n_digits } else { 0 };
    let is_of_mysql = *open == EXECUTABLE[0]
        && version[..n_digits].parse().is_ok_and(|version: u32| OF_MYSQL.contains(&version));
    (!is_of_mysql).then_some(at + open.len() + n_digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DatabaseProduct::{MariaDb, PostgreSql};

    /// Returns the letters of a statement that are SQL, with a point for each text of its own.
    fn code(sql: &str, product: DatabaseProduct) -> String {
        let ranges = code_ranges(sql, product);
        ranges.into_iter().map(|range| &sql[range]).collect::<Vec<_>>().join(".")
    }

    /// Both products read `{id}` as SQL at the end of the text, or one, or none: as `psql` and `mariadb` do.
    #[test]
    fn products_read_text_in_their_own_ways() {
        for (sql, is_code) in [
            ("-- it's a comment\n {id}", [true, true]),
            ("1--2 it's {id}'", [false, false]),
            ("1--'2' {id}", [false, true]),
            ("1--2 {id}", [false, true]),
            ("/* it's */ {id}", [true, true]),
            ("/* a /* b */ ' */ {id}", [true, false]),
            ("# it's\n {id}", [false, true]),
            ("$$it's$$, {id}", [true, false]),
            ("$a$ $$ it's $b$ $a$ {id}", [true, false]),
            ("a$b$ {id} $b$", [true, true]),
            ("$1, {id}", [true, true]),
            ("E'it\\'s', {id}", [true, true]),
            ("e'a''\\'b', {id}", [true, true]),
            ("type'it\\', {id}", [true, false]),
            ("'it\\'s', {id}", [false, true]),
            ("'a\\', {id}", [true, false]),
            ("'it''s', {id}", [true, true]),
            ("\"it's\", {id}", [true, true]),
            ("\"it\\\"s\", {id}", [false, true]),
            ("`it's`, {id}", [false, true]),
            ("/*!50000 {id} */", [false, true]),
            ("/*M! 1, {id} */", [false, true]),
            ("/*!50701 {id} */", [false, false]),
            ("/*! /* it's */ {id} */", [false, true]),
            ("/*! 1 */ it's {id}", [false, false]),
            ("'ü', {id}", [true, true]),
            ("'{id}", [false, false]),
            ("'\\", [false, false]),
            ("/*", [false, false]),
        ] {
            let found = [PostgreSql, MariaDb].map(|product| code(sql, product).contains("{id}"));
            assert_eq!(found, is_code, "{sql}: {}, {}", code(sql, PostgreSql), code(sql, MariaDb));
        }
    }

    #[test]
    fn the_first_word_is_behind_comments() {
        for (sql, expected) in [
            ("SELECT 1", ["select"; 2]),
            ("-- of today\n/* all */ ( Values (1))", ["values"; 2]),
            ("# select\ndelete", ["", "delete"]),
            ("/*! delete */ select", ["select", "delete"]),
            ("/*! */ select", ["select"; 2]),
            ("/* a /* b */ c */ update", ["update", "c"]),
            ("'select' delete", [""; 2]),
            ("", [""; 2]),
        ] {
            assert_eq!([PostgreSql, MariaDb].map(|product| first_word(sql, product)), expected, "{sql}");
        }
    }
}
