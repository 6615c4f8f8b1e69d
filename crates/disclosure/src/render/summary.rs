//! A summary of some ten lines in GitHub's Markdown, to be pasted into a pull request: the verdict with the headline, the
//! answer, and the short answers of the first page.

use std::fmt::Write;

use languages::escaped;

use super::markdown::{escape, state_text, text};
use crate::Document;

/// The most reasons and modifications that are listed.
const ITEMS_MAX: usize = 3;

/// Renders the first page of a document, without its chart.
pub fn summary(document: &Document) -> String {
    let banner = &document.banner;
    let mut out = format!("### {}", state_text(banner.state));
    if !banner.modified.is_empty() {
        out += ", modified";
    }
    if let Some(hero) = &document.hero {
        let _ = write!(out, ": {} {}", escape(&hero.value), escape(&hero.unit));
    }
    let _ = writeln!(out, "\n\n**{}** · {}", escape(&document.title), escape(&document.subtitle));
    if !document.answer.is_empty() {
        let _ = writeln!(out, "\n{}", text(&document.answer));
    }
    out.push('\n');
    let reasons = banner.reasons.iter().take(ITEMS_MAX).map(|reason| ("Not valid".to_owned(), text(reason)));
    let more = banner.reasons.len().saturating_sub(ITEMS_MAX);
    let more = (0 < more)
        .then(|| ("Not valid".to_owned(), format!("for {more} more reasons, which the report lists.")));
    let modified: Vec<String> = banner.modified.iter().take(ITEMS_MAX).map(text).collect();
    let modified = (!modified.is_empty()).then(|| {
        let others = banner.modified.len().saturating_sub(ITEMS_MAX);
        let others = if others == 0 { String::new() } else { format!("; and {others} more") };
        ("Modified".to_owned(), format!("{}{others}.", modified.join("; ")))
    });
    let brief = document.brief.iter().map(|(name, value)| (escape(name), text(value)));
    for (name, value) in reasons.chain(more).chain(brief).chain(modified) {
        let _ = writeln!(out, "- **{name}**: {value}");
    }
    let _ = writeln!(out, "\n<sub>{}</sub>", text(&document.colophon));
    escaped(&out).into_owned()
}
