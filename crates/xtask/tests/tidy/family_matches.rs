//! Matches over families: each names every family, so that the compiler asks about a new one in each place.

use super::source::{Source, sources};
use super::{Exception, Finding, check};

/// The enums that have a variant per family.
const FAMILY_ENUMS: [&str; 4] = ["Family", "Workload", "WorkloadDefinition", "ExternalServer"];

/// Crates in which a family is a value of its own file, and the file that has their only match over families.
const ONLY_MATCHES: [(&str, &str); 1] = [("plimsoll", "crates/plimsoll/src/family/mod.rs")];

/// Matches that may leave families out.
const EXCEPTIONS: &[Exception] = &[];

/// Finds matches over an enum of families with an arm for all that are not named.
fn catch_alls(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.library().is_some()) {
        let lines = source.code();
        let text = text_of(&lines);
        for (at, patterns) in matches_in(&text) {
            let Some(family) = family_of(&patterns) else { continue };
            if patterns.iter().any(|pattern| is_catch_all(pattern)) {
                findings.push(Finding {
                    path: source.path.clone(),
                    line: lines[text[..at].matches('\n').count()].0,
                    subject: family.to_owned(),
                    advice: format!("a `match` over `{family}` that does not name every family"),
                });
            }
        }
    }
    findings
}

/// Returns the files with a match over an enum of families in a crate, each as often as it has one.
fn files_with_matches<'a>(sources: &'a [Source], library: &str) -> Vec<&'a str> {
    let mut files = Vec::new();
    for source in sources.iter().filter(|source| source.library() == Some(library)) {
        let text = text_of(&source.code());
        let matches = matches_in(&text).into_iter().filter(|(_, patterns)| family_of(patterns).is_some());
        files.extend(matches.map(|_| source.path.as_str()));
    }
    files
}

fn text_of(lines: &[(usize, &str)]) -> String {
    lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
}

/// Returns the enum of families that a match is over.
fn family_of(patterns: &[&str]) -> Option<&'static str> {
    patterns.iter().find_map(|pattern| family_enum(pattern))
}

/// Returns the position of each `match`, with the patterns of its arms.
fn matches_in(text: &str) -> Vec<(usize, Vec<&str>)> {
    let is_word = |at: usize| !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    let starts = text.match_indices("match ").map(|(at, _)| at).filter(|at| is_word(*at));
    let with_arms = |at: usize| {
        let of_match = &text[at..];
        let open = find_outside(of_match, |rest| rest.starts_with('{'))?;
        Some((at, patterns(&of_match[open + 1..block_length(&of_match[open..]) + open - 1])))
    };
    starts.filter_map(with_arms).collect()
}

/// Returns the patterns of the arms in the block of a `match`.
fn patterns(block: &str) -> Vec<&str> {
    let mut patterns = Vec::new();
    let mut rest = block;
    while let Some(arrow) = find_outside(rest, |rest| rest.starts_with("=>")) {
        patterns.push(without_attributes(rest[..arrow].trim()));
        let body = rest[arrow + 2..].trim_start();
        let length = if body.starts_with('{') {
            block_length(body)
        } else {
            find_outside(body, |rest| rest.starts_with(',')).unwrap_or(body.len())
        };
        rest = body[length..].trim_start().trim_start_matches(',');
    }
    patterns
}

fn without_attributes(pattern: &str) -> &str {
    match pattern.strip_prefix("#[").and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => without_attributes(rest.trim_start()),
        None => pattern,
    }
}

/// Returns the first position that is in no brackets and where the rest of the text is as wanted.
fn find_outside(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let mut depth = 0;
    for (at, next) in text.char_indices() {
        if depth == 0 && is_wanted(&text[at..]) {
            return Some(at);
        }
        depth += i32::from("([{".contains(next)) - i32::from(")]}".contains(next));
        if depth < 0 {
            return None;
        }
    }
    None
}

/// Returns the length of the block in braces at the beginning of a text, both braces included.
fn block_length(text: &str) -> usize {
    let mut depth = 0;
    for (at, next) in text.char_indices() {
        depth += i32::from(next == '{') - i32::from(next == '}');
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the enum of families whose variant a pattern names, perhaps within `Some` or a tuple.
fn family_enum(pattern: &str) -> Option<&'static str> {
    let inner = pattern.trim_start_matches(['(', '&']);
    let inner = inner.strip_prefix("Some(").unwrap_or(inner);
    let path = inner.split(|next: char| !next.is_alphanumeric() && next != '_' && next != ':').next()?;
    let owner = path.rsplit_once("::")?.0;
    FAMILY_ENUMS.into_iter().find(|name| owner.rsplit("::").next() == Some(name))
}

/// Returns whether a pattern takes everything that is left: `_`, a name, or a tuple of them.
fn is_catch_all(pattern: &str) -> bool {
    let pattern = pattern.split(" if ").next().unwrap_or(pattern).trim();
    let is_name = |part: &str| {
        let part = part.trim();
        part.starts_with(|first: char| first == '_' || first.is_lowercase())
            && part.chars().all(|next| next == '_' || next.is_alphanumeric())
    };
    pattern.trim_matches(['(', ')', ' ']).split(',').all(is_name)
}

#[test]
fn a_match_over_families_names_every_family() {
    check(&catch_alls(sources()), EXCEPTIONS);
}

#[test]
fn crates_with_a_file_for_each_family_match_over_families_once() {
    for (library, file) in ONLY_MATCHES {
        assert_eq!(
            files_with_matches(sources(), library),
            [file],
            "{library}: answers of families are in their files"
        );
    }
}

#[test]
fn catch_alls_over_families_are_found_in_every_form() {
    let found = |code: &str| {
        let text = format!("fn f() {{\n    {code}\n}}\n");
        let findings = catch_alls(&[Source::new("crates/x/src/a.rs", &text)]);
        findings.iter().map(|one| format!("{} {}", one.line, one.subject)).collect::<Vec<_>>()
    };
    for code in [
        "match family { Family::Web => 1, _ => 2 }",
        "match self {\n Workload::Web(web) => { web.x() }\n other => other.y(),\n }",
        "match a {\n _ if b => 1,\n Some(Family::Sql) => { 2 }\n None => 3\n }",
        "match (a, b) { (model::Family::Web, Some(_)) => f(|x, y| x), (_, _) => 2 }",
        "match a {\n #[cfg(feature = \"echo\")]\n ExternalServer::Echo(_) => 1,\n _ => 2,\n }",
    ] {
        assert_eq!(found(code).len(), 1, "{code}");
    }
    assert_eq!(found("let a = 1;\n match x { Family::Web => 1, _ => 2 }"), ["3 Family"]);
    for code in [
        "match family { Family::Web | Family::App => 1, Family::Sql => 2 }",
        "match family {\n Family::Web => match x { Some(_) => 1, _ => 2 },\n Family::App => 3,\n }",
        "match x { 1 => Family::Web, _ => Family::App }",
        "match error { Error::Wrong { family: Family::Web } => 1, _ => 2 }",
        "if let Family::Web = family { 1 } else { 2 }",
        "rematch family { Family::Web => 1, _ => 2 }",
    ] {
        assert_eq!(found(code), [""; 0], "{code}");
    }
}
