//! Families: crates that serve all of them name what is the web's only in their modules `web`.

use crate::source::{Source, sources};
use crate::{Exception, Finding, check};

/// Crates that know a family by its catalog, or keep each in a module of its own.
const GENERAL: [&str; 3] = ["analysis", "fleet", "telemetry"];

/// The crate of which some modules speak HTTP themselves, whatever is measured: an endpoint, and a push.
const OWN_HTTP: [&str; 4] = ["endpoint", "prometheus", "push", "server"];

/// Words of the web, as parts of names.
const WORDS: [&str; 11] = [
    "accelerator",
    "body",
    "filelist",
    "gateway",
    "http",
    "http10",
    "http2",
    "https",
    "page",
    "pages",
    "tls",
];

/// Words that a file outside the web may use: the plan's servers and accelerators by recipe belong to the web until
/// recipes have families, and targets of application servers are URLs.
const LEFT: &[Exception] = &[
    ("crates/analysis/src/attribute/read.rs", "gateway"),
    ("crates/analysis/src/scaling.rs", "accelerator"),
    ("crates/analysis/src/scaling.rs", "gateway"),
    ("crates/fleet/src/family/app.rs", "http"),
    ("crates/fleet/src/local.rs", "accelerator"),
    ("crates/fleet/src/local.rs", "gateway"),
    ("crates/fleet/src/local.rs", "http10"),
];

/// Finds words of the web outside the modules `web`.
fn web_words(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_general(source)) {
        for (number, line) in source.code() {
            let words = parts(line).into_iter().filter(|part| WORDS.contains(&part.as_str()));
            findings.extend(words.map(|subject| Finding {
                path: source.path.clone(),
                line: number,
                advice: format!("`{subject}` is the web's: name it in the module `web`"),
                subject,
            }));
        }
    }
    findings
}

fn is_general(source: &Source) -> bool {
    let Some((name, module)) = source.library().zip(source.module()) else { return false };
    let is_own_http = name == "telemetry" && OWN_HTTP.contains(&module[0]);
    GENERAL.contains(&name) && !module.contains(&"web") && !is_own_http
}

/// Returns the parts of all names of a line in lower case: `body`, `bytes` of `body_bytes`; `web`, `page` of `WebPage`.
/// Paths into a module `web` are left out.
fn parts(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let names = line.split(|next: char| !next.is_alphanumeric() && next != '_');
    for name in names {
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
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| part.to_lowercase()).collect()
}

#[test]
fn crates_that_serve_all_families_do_not_speak_of_the_web() {
    check(&web_words(sources()), LEFT);
}

#[test]
fn parts_of_names_are_found_whatever_their_notation() {
    let text =
        "let reply_body: u64 = WebPage::of(plan);\nstruct TlsMode;\nlet somebody = pager;\nuse a::http::B;\n";
    let found = |path: &str| {
        let findings = web_words(&[Source::new(path, text)]);
        findings.iter().map(|one| format!("{} {}", one.line, one.subject)).collect::<Vec<_>>()
    };
    assert_eq!(found("crates/analysis/src/fold.rs"), ["1 body", "1 page", "2 tls", "4 http"]);
    for elsewhere in [
        "crates/analysis/src/metrics/web.rs",
        "crates/fleet/src/family/web.rs",
        "crates/telemetry/src/push.rs",
        "crates/drivers/src/lib.rs",
        "crates/analysis/tests/all.rs",
    ] {
        assert_eq!(found(elsewhere), [""; 0], "{elsewhere}");
    }
}
