//! Names and doc comments that a stranger can read: no home-made words as type names, no names of shared types without a
//! noun, no doc lines that begin with a question word, no code in documentation, and no two public types of one name in different crates. Also walls that cargo does not keep: pure
//! crates use nothing impure, the rooms of a crate import in one direction, `observe` only looks, the crates that serve all
//! protocol families do not speak of the web, and errors that are texts become fewer.
//!
//! `docs/glossary.md` defines the words that are used instead.

mod circles;
mod documents;
mod errors;
mod families;
mod family_matches;
mod family_places;
mod modules;
mod observe;
mod purity;
mod source;
mod test_modules;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use source::{Source, declared_type, item, sources};
use words::{BARE_ENDINGS, BARE_WORDS, NOUNS, OLD_WORDS};

/// Words with which the first line of a doc comment must not begin: it names the noun that it describes.
const QUESTION_WORDS: [&str; 11] =
    ["What", "Whatever", "Who", "Whoever", "Whom", "Whose", "Why", "How", "Where", "Wherever", "Something"];

/// Type names that several crates may have, because they are always used with their module or crate.
const QUALIFIED_NAMES: [&str; 2] = ["Error", "Settings"];

/// A breach of a rule that is let through: the beginning of the path, and the name or word concerned (any if empty).
/// One that is no longer needed fails the test, so that the lists only shrink.
type Exception = (&'static str, &'static str);

/// A breach of a rule.
struct Finding {
    path: String,
    /// Counted from 1.
    line: usize,
    /// The name or word that breaks the rule.
    subject: String,
    advice: String,
}

/// Finds types that have an old word as their name.
fn old_words(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in source.lines.iter().enumerate() {
            let Some((_, name)) = declared_type(line) else { continue };
            let Some((_, better)) = OLD_WORDS.iter().find(|(word, _)| *word == name) else { continue };
            let advice = format!("a type called `{name}`: call it {better}");
            findings.push(Finding {
                path: source.path.clone(),
                line: index + 1,
                subject: name.into(),
                advice,
            });
        }
    }
    findings
}

/// Finds types of libraries and programs, other than private ones and those of tests, whose whole name is a participle, a
/// preposition or a count: `Received`, `Elsewhere`, `Counts`.
fn bare_words(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.library().is_some()) {
        for (line, text) in source.code() {
            let Some((_, name)) = declared_type(text).filter(|_| text.starts_with("pub")) else { continue };
            if !is_bare(name) {
                continue;
            }
            let advice =
                format!("a type called `{name}`: name the noun, `ReadOutcome` for the result of a read");
            findings.push(Finding { path: source.path.clone(), line, subject: name.into(), advice });
        }
    }
    findings
}

/// Returns whether a name is one word, and that a bare one.
fn is_bare(name: &str) -> bool {
    let is_one_word = name.chars().filter(|letter| letter.is_uppercase()).count() == 1;
    is_one_word && (BARE_WORDS.contains(&name) || BARE_ENDINGS.iter().any(|ending| name.ends_with(ending)))
}

/// Finds doc comments of modules and public items whose first line begins with a question word.
fn questions(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        for (index, text) in first_doc_lines(&source.lines) {
            let word = text.split(|next: char| !next.is_alphanumeric()).next().unwrap_or_default();
            if QUESTION_WORDS.contains(&word) {
                let advice = format!("a doc comment that begins with `{word}`: name the noun first");
                findings.push(Finding {
                    path: source.path.clone(),
                    line: index + 1,
                    subject: word.into(),
                    advice,
                });
            }
        }
    }
    findings
}

/// Returns the first line of each doc comment of a module or a public item (fields are none), with its index in the file.
fn first_doc_lines(lines: &[String]) -> Vec<(usize, &str)> {
    let mut firsts = Vec::new();
    let mut begun: Option<(usize, &str)> = None;
    let mut n_open = 0; // brackets of an attribute that goes over several lines
    for (index, line) in lines.iter().enumerate() {
        let follows_inner = 0 < index && lines[index - 1].starts_with("//!");
        if let Some(text) = line.strip_prefix("//!").filter(|_| !follows_inner) {
            firsts.push((index, text.trim()));
        } else if let Some(text) = line.strip_prefix("///") {
            begun = begun.or(Some((index, text.trim())));
        } else if begun.is_some() && (line.starts_with("#[") || 0 < n_open) {
            n_open += line.matches('[').count() as i64 - line.matches(']').count() as i64;
        } else if !line.is_empty() {
            firsts.extend(begun.take().filter(|_| is_public_item(line)));
        }
    }
    firsts
}

/// Returns whether a line declares something public other than a field.
fn is_public_item(line: &str) -> bool {
    let keywords = ["struct", "enum", "trait", "type", "union", "fn", "const", "static", "mod"];
    item(line).is_some_and(|(is_public, keyword, _)| is_public && keywords.contains(&keyword))
}

/// Finds public types that share their name with one of another crate.
fn shared_names(sources: &[Source]) -> Vec<Finding> {
    let mut declared: BTreeMap<&str, Vec<(&str, &str, usize)>> = BTreeMap::new();
    for source in sources {
        let Some(library) = source.library() else { continue };
        for (index, line) in source.lines.iter().enumerate() {
            if let Some((true, name)) = declared_type(line) {
                declared.entry(name).or_default().push((library, &source.path, index + 1));
            }
        }
    }
    let mut findings = Vec::new();
    for (name, declarations) in declared.iter().filter(|(name, _)| !QUALIFIED_NAMES.contains(name)) {
        let libraries: BTreeSet<&str> = declarations.iter().map(|(library, _, _)| *library).collect();
        if libraries.len() < 2 {
            continue;
        }
        let all = libraries.into_iter().collect::<Vec<_>>().join("`, `");
        for (_, path, line) in declarations {
            let advice =
                format!("a public type `{name}` in each of `{all}`: say in the name which one it is");
            findings.push(Finding { path: (*path).into(), line: *line, subject: (*name).into(), advice });
        }
    }
    findings
}

/// Finds blocks of code in documentation: cargo compiles them with all dependencies anew, for one example.
fn code_in_documentation(sources: &[Source]) -> Vec<Finding> {
    let fence = |line: &'_ str| -> Option<String> {
        let comment = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']);
        comment.trim_start().strip_prefix("```").map(str::to_owned)
    };
    let mut findings = Vec::new();
    for source in sources {
        let fences = source.lines.iter().enumerate().filter_map(|(index, line)| Some((index, fence(line)?)));
        // Every other fence ends a block.
        for (index, _) in fences.step_by(2).filter(|(_, language)| language != "text") {
            findings.push(Finding {
                path: source.path.clone(),
                line: index + 1,
                subject: "```".into(),
                advice: "code in documentation: make it a test, or mark the block as `text`".into(),
            });
        }
    }
    findings
}

/// Returns a line for each finding that no exception lets through, and for each exception that lets nothing through.
fn complaints(findings: &[Finding], exceptions: &[Exception]) -> Vec<String> {
    let lets_through = |(path, subject): &Exception, finding: &Finding| {
        finding.path.starts_with(path) && (subject.is_empty() || finding.subject == *subject)
    };
    let is_let_through = |finding: &&Finding| exceptions.iter().any(|one| lets_through(one, finding));
    let wrong = findings.iter().filter(|finding| !is_let_through(finding));
    let needless = exceptions.iter().filter(|one| !findings.iter().any(|finding| lets_through(one, finding)));
    let mut complaints: Vec<String> =
        wrong.map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.advice)).collect();
    complaints.extend(needless.map(|(path, subject)| {
        format!("remove the exception (\"{path}\", \"{subject}\"): nothing needs it any more")
    }));
    complaints
}

#[track_caller]
fn check(findings: &[Finding], exceptions: &[Exception]) {
    let complaints = complaints(findings, exceptions);
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn no_type_has_an_old_word_as_its_name() {
    check(&old_words(sources()), &[]);
}

#[test]
fn no_shared_type_has_a_bare_word_as_its_name() {
    check(&bare_words(sources()), NOUNS);
}

#[test]
fn no_doc_comment_begins_with_a_question_word() {
    check(&questions(sources()), &[]);
}

#[test]
fn no_two_crates_have_a_public_type_of_one_name() {
    check(&shared_names(sources()), &[]);
}

#[test]
fn no_documentation_has_code_that_is_compiled() {
    check(&code_in_documentation(sources()), &[]);
}

#[test]
fn blocks_of_text_in_documentation_are_no_code() {
    let text = "//! ```text\n//! a → b\n//! ```\n    /// ```\n    /// assert!(true);\n    /// ```\n//! ```rust\n//! ```\n";
    assert_eq!(found(code_in_documentation, text), ["4 ```", "7 ```"]);
    assert_eq!(found(code_in_documentation, "let fence = \"```\";\n"), [""; 0]);
}

/// Findings in the lines of one made-up source, as "line subject".
fn found(rule: fn(&[Source]) -> Vec<Finding>, text: &str) -> Vec<String> {
    let findings = rule(&[Source::new("crates/a/src/lib.rs", text)]);
    findings.iter().map(|finding| format!("{} {}", finding.line, finding.subject)).collect()
}

#[test]
fn old_words_are_found_as_names_of_types_of_any_visibility() {
    let text = "struct Told;\npub enum Door {\n}\npub(crate) trait Kit: Sized {}\npub(super) type Area<T> = T;\n\
                pub unsafe trait Gate {}\n    struct Young {\n";
    assert_eq!(found(old_words, text), ["1 Told", "2 Door", "4 Kit", "5 Area", "6 Gate", "7 Young"]);
}

#[test]
fn old_words_elsewhere_are_no_finding() {
    let text = "// struct Told;\n/// struct Told;\nlet s = \"\nstruct Told;\n\";\nlet r = r#\"\nenum Door {}\n\"#;\n\
                /* struct Kit;\n/* struct Kit; */\nstruct Kit; */\nfn f(told: Told) -> Door { Kit }\nstruct Doors;\n\
                let c = '\"'; // struct Told;\nimpl Told {}\nlet b = '\\'';\nlet q = \"\\\"\nstruct Told;\n\";\n";
    assert_eq!(found(old_words, text), [""; 0]);
    // What follows a lifetime or a quotation mark in a character literal is code again.
    assert_eq!(
        found(old_words, "fn f<'a>(x: &'a str) {}\nconst Q: char = '\"';\nstruct Told;\n"),
        ["3 Told"]
    );
    assert_eq!(found(old_words, "let s = \"a\\\\\";\nlet r = r\"\\\";\nstruct Told;\n"), ["3 Told"]);
}

#[test]
fn bare_words_are_found_as_names_of_types_that_others_use() {
    let text = "pub struct Received;\npub(crate) enum Elsewhere {\n}\npub(super) trait Handling: Sized {}\n\
                pub type Counts<T> = T;\npub struct Sent(u8);\n";
    assert_eq!(found(bare_words, text), ["1 Received", "2 Elsewhere", "4 Handling", "5 Counts", "6 Sent"]);
}

#[test]
fn other_names_and_private_types_may_be_participles() {
    let text = "struct Received;\npub struct ReceivedHead;\npub struct ValueCounts;\npub struct Sentence;\n\
                pub fn counted() {}\nimpl A {\n    type Performed = u8;\n}\n/// pub struct Told;\n\
                #[cfg(test)]\nmod tests {\n    pub struct Scripted;\n}\n";
    assert_eq!(found(bare_words, text), [""; 0]);
    let of_tests = Source::new("crates/a/tests/a.rs", "pub struct Received;\n");
    assert!(bare_words(&[of_tests]).is_empty());
}

#[test]
fn question_words_are_found_at_the_beginning_of_docs_of_modules_and_public_items() {
    let text = "//! What this is.\n//! How it works.\n\n/// Who asks.\n/// More.\n#[derive(\n    Debug,\n)]\n#[serde(a = [\n\
                1])]\npub struct A;\n\n/// Where it is.\npub const fn f() {}\n/// Something.\npub const X: u8 = 1;\n\
                mod b {\n    //! Why, indeed.\n    /// Whose it is.\n    pub async fn g() {}\n}\n";
    assert_eq!(found(questions, text), ["1 What", "4 Who", "13 Where", "15 Something", "18 Why", "19 Whose"]);
}

#[test]
fn question_words_elsewhere_are_no_finding() {
    let text = "//! A store.\n//!\n//! What it does.\n/// A limiter.\n/// What it limits.\npub struct A {\n    /// How many.\n\
                    pub n: u8,\n}\n/// What is private.\nstruct B;\n/// What is private.\npub(crate) fn f() {}\n\
                /// Whether it holds.\npub fn g() {}\n/// Returns what it was.\npub fn h() {}\n/// Whatsoever.\npub fn i() {}\n\
                // What follows.\npub fn j() {}\n//// What is no doc comment.\npub fn k() {}\n";
    assert_eq!(found(questions, text), [""; 0]);
}

#[test]
fn public_types_of_one_name_in_two_crates_are_found_in_both() {
    let source = |path: &str, text: &str| Source::new(path, text);
    let sources = [
        source(
            "crates/a/src/lib.rs",
            "pub struct Reply;\npub struct Error;\npub enum Own {}\nstruct Hidden;\n",
        ),
        source("crates/a/src/b.rs", "pub struct Own;\n"),
        source("crates/b/src/b.rs", "\npub type Reply = u8;\npub enum Error {}\npub(crate) struct Hidden;\n"),
        source("crates/c/tests/c.rs", "pub struct Own;\n"),
        source("fuzz/src/main.rs", "pub struct Own;\n"),
    ];
    let findings = shared_names(&sources);
    let lines = complaints(&findings, &[]);
    assert_eq!(
        lines,
        [
            "crates/a/src/lib.rs:1: a public type `Reply` in each of `a`, `b`: say in the name which one it is",
            "crates/b/src/b.rs:2: a public type `Reply` in each of `a`, `b`: say in the name which one it is",
        ]
    );
}

#[test]
fn exceptions_let_through_what_they_name_and_must_be_needed() {
    let findings = old_words(&[Source::new("crates/a/src/lib.rs", "struct Told;\nstruct Door;\n")]);
    assert_eq!(complaints(&findings, &[("crates/a/", "")]), [""; 0]);
    assert_eq!(complaints(&findings, &[("crates/a/", "Told"), ("crates/a/src/lib.rs", "Door")]), [""; 0]);
    assert_eq!(
        complaints(&findings, &[("crates/a/", "Told"), ("crates/b/", "Door")]),
        [
            "crates/a/src/lib.rs:2: a type called `Door`: call it `Listener`",
            "remove the exception (\"crates/b/\", \"Door\"): nothing needs it any more",
        ]
    );
}
