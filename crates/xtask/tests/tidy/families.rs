//! Families: crates and modules that serve all of them name what is the web's only in their modules `web`.

use super::source::{Source, sources};
use super::{Exception, Finding, check};

/// Crates, and modules of others, that know a family by its catalog, or keep each in a module of its own.
const GENERAL: [&str; 5] = ["analysis", "fleet", "model::plan", "telemetry", "testbed::sut"];

/// The crate of which some modules speak HTTP themselves, whatever is measured: an endpoint, and a push.
const OWN_HTTP: [&str; 4] = ["endpoint", "prometheus", "push", "server"];

/// Words of the web, as parts of names; those of two parts follow each other in one name.
const WORDS: [&str; 13] = [
    "accelerator",
    "body",
    "cookie",
    "filelist",
    "gateway",
    "http",
    "http10",
    "http2",
    "https",
    "page",
    "pages",
    "reply_bytes",
    "tls",
];

/// Words that are let through, with the reason. The list only shrinks.
const SHARED: &[Exception] = &[
    // An application server may be spoken to over HTTP.
    ("crates/fleet/src/family/app.rs", "http"),
    // The listing of a server has that of its gateways.
    ("crates/testbed/src/sut/listing.rs", "gateway"),
    // Recipes say `http-get`, and the page on which a server says how busy it is.
    ("crates/testbed/src/sut/readiness.rs", "http"),
    ("crates/testbed/src/sut/running.rs", "page"),
    // Tests of all recipes.
    ("crates/testbed/src/sut/rendered.rs", "accelerator"),
    ("crates/testbed/src/sut/rendered.rs", "gateway"),
];

/// Finds words of the web outside the modules `web`.
fn web_words(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_general(source)) {
        for (number, line) in source.code() {
            let names = names(line);
            let words = names.iter().flat_map(|parts| WORDS.iter().filter(|word| has(parts, word)));
            findings.extend(words.map(|subject| Finding {
                path: source.path.clone(),
                line: number,
                advice: format!("`{subject}` is the web's: name it in the module `web`"),
                subject: (*subject).to_owned(),
            }));
        }
    }
    findings
}

fn is_general(source: &Source) -> bool {
    let Some((name, module)) = source.library().zip(source.module()) else { return false };
    let is_own_http = name == "telemetry" && OWN_HTTP.contains(&module[0]);
    let of_crate = format!("{name}::{}", module[0]);
    let is_general = GENERAL.contains(&name) || GENERAL.contains(&of_crate.as_str());
    is_general && !module.contains(&"web") && !is_own_http
}

/// Returns whether the parts of a name have a word, or its parts in sequence, among them.
fn has(parts: &[String], word: &str) -> bool {
    let of_word: Vec<&str> = word.split('_').collect();
    parts.windows(of_word.len()).any(|some| some == of_word)
}

/// Returns the names of a line, each as its parts in lower case: `body`, `bytes` of `body_bytes`; `web`, `page` of
/// `WebPage`.
fn names(line: &str) -> Vec<Vec<String>> {
    line.split(|next: char| !next.is_alphanumeric() && next != '_').map(parts).collect()
}

fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for piece in name.split('_') {
        let mut part = String::new();
        for next in piece.chars() {
            if next.is_uppercase() && !part.is_empty() && !part.ends_with(char::is_uppercase) {
                parts.push(std::mem::take(&mut part));
            }
            part.push(next);
        }
        parts.push(part);
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| part.to_lowercase()).collect()
}

#[test]
fn crates_that_serve_all_families_do_not_speak_of_the_web() {
    check(&web_words(sources()), SHARED);
}

#[test]
fn parts_of_names_are_found_whatever_their_notation() {
    let text = "let reply_body: u64 = WebPage::of(plan);\nstruct TlsMode;\nlet somebody = pager;\nuse a::http::B;\n\
         n_reply_bytes + ReplyBytes::MAX;\nlet (reply, bytes) = bytes_reply;\n";
    let found = |path: &str| {
        let findings = web_words(&[Source::new(path, text)]);
        findings.iter().map(|one| format!("{} {}", one.line, one.subject)).collect::<Vec<_>>()
    };
    assert_eq!(
        found("crates/analysis/src/fold.rs"),
        ["1 body", "1 page", "2 tls", "4 http", "5 reply_bytes", "5 reply_bytes"]
    );
    assert_eq!(found("crates/testbed/src/sut/running.rs").len(), 6);
    assert_eq!(found("crates/model/src/plan/mod.rs").len(), 6);
    for elsewhere in [
        "crates/analysis/src/metrics/web.rs",
        "crates/testbed/src/sut/web/facts.rs",
        "crates/testbed/src/recipe/mod.rs",
        "crates/model/src/load.rs",
        "crates/fleet/src/family/web.rs",
        "crates/telemetry/src/push.rs",
        "crates/drivers/src/lib.rs",
        "crates/analysis/tests/all.rs",
    ] {
        assert_eq!(found(elsewhere), [""; 0], "{elsewhere}");
    }
}
