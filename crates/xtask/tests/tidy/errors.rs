//! Typed errors: a failure whose type is a text can be printed, but not told apart, matched or given a remedy.

use std::collections::BTreeMap;

use super::source::{Source, sources};

/// The number of types `Result<_, String>` in the code of all crates: it may only fall.
const STRING_ERRORS: usize = 3;

/// Returns the number of types `Result<_, String>` in the code of each library and program, by crate.
fn string_errors(sources: &[Source]) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for source in sources {
        let Some(name) = source.library() else { continue };
        let code: Vec<&str> = source.code().into_iter().map(|(_, line)| line).collect();
        match results_with_text(&code.join(" ")) {
            0 => {}
            n => *found.entry(name).or_default() += n,
        }
    }
    found
}

/// Returns how often code has a `Result` whose second parameter is `String`.
fn results_with_text(code: &str) -> usize {
    let parameters = code.match_indices("Result<").map(|(at, found)| parameters(&code[at + found.len()..]));
    parameters.filter(|parameters| parameters.get(1) == Some(&"String")).count()
}

/// Returns the type parameters that the text begins with, up to the bracket that closes them.
fn parameters(text: &str) -> Vec<&str> {
    let mut parameters = Vec::new();
    let mut depth = 0_u32;
    let mut begin = 0;
    for (at, next) in text.char_indices() {
        match next {
            '<' | '(' | '[' => depth += 1,
            // Of an arrow.
            '>' if text[..at].ends_with('-') => {}
            ',' | '>' if depth == 0 => {
                parameters.push(text[begin..at].trim());
                begin = at + 1;
                if next == '>' {
                    break;
                }
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    parameters
}

#[test]
fn errors_that_are_texts_become_fewer() {
    let found = string_errors(sources());
    let n: usize = found.values().sum();
    assert!(
        n <= STRING_ERRORS,
        "{n} types `Result<_, String>`, at most {STRING_ERRORS} are allowed: give the new ones an error type; {found:?}"
    );
    assert!(
        n == STRING_ERRORS,
        "only {n} types `Result<_, String>` are left: lower `STRING_ERRORS` to that; {found:?}"
    );
}

#[test]
fn results_with_texts_as_errors_are_found_whatever_their_other_parameters() {
    let text = "fn a() -> Result<u8, String> {}\nfn b() -> io::Result<String> {}\nfn c() -> Result<Vec<(u8, String)>, Error> {}\n\
                fn d() -> Result<\nVec<(u8, String)>,\nString,\n> {}\nfn e(f: impl Fn(u8) -> Result<(), String>) {}\n\
                // Result<u8, String>\n#[cfg(test)]\nmod tests {\n    fn f() -> Result<u8, String> {}\n}\n";
    let source = |path: &str| Source::new(path, text);
    let sources = [source("crates/a/src/lib.rs"), source("crates/a/tests/a.rs"), source("fuzz/src/main.rs")];
    // `io::Result<String>` has another error.
    assert_eq!(string_errors(&sources), BTreeMap::from([("a", 3)]));
}
