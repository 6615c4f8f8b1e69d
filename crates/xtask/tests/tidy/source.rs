//! Rust sources as far as declarations and doc comments go: a lexer for lines.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// A source of ours, without plain comments and the contents of strings.
pub(crate) struct Source {
    /// From the root of the repository.
    pub path: String,
    /// Trimmed.
    pub lines: Vec<String>,
}

impl Source {
    /// Reads a source.
    pub(crate) fn new(path: &str, text: &str) -> Source {
        Source {
            path: path.to_owned(),
            lines: strip(text).lines().map(|line| line.trim().to_owned()).collect(),
        }
    }

    /// Returns its lines of code, with their numbers from 1: neither doc comments nor modules of tests.
    pub(crate) fn code(&self) -> Vec<(usize, &str)> {
        let mut kept = Vec::new();
        let mut lines = self.lines.iter().enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            let opens_module = |next: &str| next.contains("mod ") && next.ends_with('{');
            if line == "#[cfg(test)]" && lines.peek().is_some_and(|(_, next)| opens_module(next.as_str())) {
                let mut depth = 0;
                for (_, inner) in lines.by_ref() {
                    depth += inner.matches('{').count() as i64 - inner.matches('}').count() as i64;
                    if depth == 0 {
                        break;
                    }
                }
            } else if !line.starts_with("//") {
                kept.push((index + 1, line.as_str()));
            }
        }
        kept
    }

    /// Returns the module that it is, as names from the root of its crate; `None` for a file of no library.
    pub(crate) fn module(&self) -> Option<Vec<&str>> {
        let (_, rest) = self.path.strip_prefix("crates/")?.split_once("/src/")?;
        let module = rest.strip_suffix(".rs")?;
        Some(module.strip_suffix("/mod").unwrap_or(module).split('/').collect())
    }

    /// Returns the crate whose public names this source can declare: none for tests, examples and fuzz targets.
    pub(crate) fn library(&self) -> Option<&str> {
        let (name, rest) = self.path.strip_prefix("crates/")?.split_once('/')?;
        rest.starts_with("src/").then_some(name)
    }
}

/// Returns the root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns all Rust sources: of the crates, with their tests and examples, and of the fuzz targets.
pub(crate) fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_all);
    &SOURCES
}

fn read_all() -> Vec<Source> {
    let mut folders = vec![root().join("fuzz/src")];
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        folders.push(entry.unwrap().path());
    }
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                sources.push(Source::new(&name, &fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(500 < sources.len(), "found only {} sources", sources.len());
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources
}

/// Removes plain comments and the contents of strings and of character literals; keeps doc comments and line breaks.
fn strip(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_kept) = token(rest, first);
        let (token, behind) = rest.split_at(length);
        if is_kept {
            kept.push_str(token);
        } else {
            kept.extend(token.chars().filter(|character| *character == '\n'));
        }
        rest = behind;
    }
    kept
}

/// Returns the length (bytes) of the token at the beginning of `rest`, and whether it is kept.
fn token(rest: &str, first: char) -> (usize, bool) {
    let is_doc = rest.starts_with("//!") || rest.starts_with("///") && !rest.starts_with("////");
    if rest.starts_with("//") {
        (rest.find('\n').unwrap_or(rest.len()), is_doc)
    } else if rest.starts_with("/*") {
        (block_comment(rest), false)
    } else if let Some(length) = raw_string(rest) {
        (length, false)
    } else if first == '"' {
        (quoted(rest, '"'), false)
    } else if first == '\'' && is_character(rest) {
        (quoted(rest, '\''), false)
    } else if first.is_alphanumeric() || first == '_' {
        (rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len()), true)
    } else {
        (first.len_utf8(), true)
    }
}

/// Returns the length of a block comment, with those within.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let pair = rest.as_bytes().get(at..at + 2);
        match pair {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(rest.len())
}

/// Returns the length of a raw string, `None` if there is none.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let behind = &rest[prefix.len()..];
    let n_hashes = behind.len() - behind.trim_start_matches('#').len();
    let content = behind[n_hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(n_hashes));
    let length = content.find(&end).map_or(content.len(), |at| at + end.len());
    Some(prefix.len() + n_hashes + 1 + length)
}

/// Returns whether a quotation mark begins a character literal and not a lifetime or a label.
fn is_character(rest: &str) -> bool {
    let mut characters = rest.chars().skip(1);
    let second = characters.next();
    second == Some('\\') || characters.next() == Some('\'')
}

/// Returns the length of a literal with escapes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        if character == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    rest.len()
}

/// Splits a line that declares an item into "is public" (to all crates), keyword and name.
pub(crate) fn item(line: &str) -> Option<(bool, &str, &str)> {
    let (is_public, rest) = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (false, rest.split_once(')')?.1.trim_start()),
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        _ => (false, line),
    };
    let mut words = rest.split(' ').filter(|word| !["unsafe", "async", "extern", ""].contains(word));
    let mut keyword = words.next()?;
    let mut name = words.next()?;
    if keyword == "const" && name == "fn" {
        (keyword, name) = (name, words.next()?);
    }
    let end = name.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(name.len());
    // A macro's parameter is no name.
    (end != 0).then(|| (is_public, keyword, &name[..end]))
}

/// Returns the name of the type that a line declares, and whether it is public.
pub(crate) fn declared_type(line: &str) -> Option<(bool, &str)> {
    let (is_public, keyword, name) = item(line)?;
    ["struct", "enum", "trait", "type", "union"].contains(&keyword).then_some((is_public, name))
}
