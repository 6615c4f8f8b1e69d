//! Markdown of GitHub's flavor, for wikis, tickets and diffs. Charts become their tables.

use std::fmt::Write;

use analysis::VerdictState;
use languages::escaped;

use crate::{Align, Banner, Block, Document, NoteKind, Row, RowStyle, Section, Span, Table, Text};

/// Renders a document as Markdown.
pub fn markdown(document: &Document) -> String {
    let mut out = format!("# {}\n\n{}\n\n", escape(&document.title), escape(&document.subtitle));
    if !document.answer.is_empty() {
        let _ = writeln!(out, "{}\n", text(&document.answer));
    }
    banner(&document.banner, &mut out);
    if let Some(hero) = &document.hero {
        let _ =
            writeln!(out, "**{} {}** {}\n", escape(&hero.value), escape(&hero.unit), text(&hero.companion));
    }
    list(
        document.brief.iter().map(|(name, value)| format!("**{}**: {}", escape(name), text(value))),
        &mut out,
    );
    for section in &document.sections {
        section_markdown(section, &mut out);
    }
    let _ = writeln!(out, "---\n\n{}", text(&document.colophon));
    escaped(&out).into_owned()
}

/// Returns a verdict with its sign.
pub(super) fn state_text(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "✓ VALID",
        VerdictState::Overloaded | VerdictState::Invalid => "✕ INVALID",
        VerdictState::Incomplete => "◐ INCOMPLETE",
    }
}

fn banner(banner: &Banner, out: &mut String) {
    let _ = writeln!(out, "> **{}** {}", state_text(banner.state), text(&banner.text));
    for reason in &banner.reasons {
        let _ = writeln!(out, "> - {}", text(reason));
    }
    out.push('\n');
    if !banner.modified.is_empty() {
        let changes: Vec<String> = banner.modified.iter().map(text).collect();
        let _ = writeln!(out, "> **MODIFIED** {}\n", changes.join("; "));
    }
}

fn section_markdown(section: &Section, out: &mut String) {
    let _ = writeln!(out, "## {}\n", escape(&section.title));
    for block in &section.blocks {
        block_markdown(block, out);
    }
}

fn block_markdown(block: &Block, out: &mut String) {
    match block {
        Block::Paragraph(paragraph) => {
            let _ = writeln!(out, "{}\n", text(paragraph));
        }
        Block::Heading(heading) => {
            let _ = writeln!(out, "### {}\n", escape(heading));
        }
        Block::Tiles(tiles) => {
            list(
                tiles.iter().map(|tile| {
                    format!("{}: **{}** {}", escape(&tile.name), escape(&tile.value), escape(&tile.note))
                }),
                out,
            );
        }
        Block::Table(table) => table_markdown(table, out),
        Block::Figure(figure) if figure.bulky => {
            let title = escape(&figure.chart.title);
            let n = figure.table.rows.len();
            let _ = writeln!(out, "{title}: {n} rows, in the HTML form of this report.\n");
        }
        Block::Figure(figure) => {
            table_markdown(&figure.table, out);
        }
        Block::Facts(facts) => {
            list(facts.iter().map(|(name, value)| format!("{}: {}", escape(name), text(value))), out)
        }
        Block::Code { caption, text } => code(caption, text, out),
        Block::List(items) => list(items.iter().map(text), out),
        Block::Note(kind, note) => {
            let word = if *kind == NoteKind::Warning { "**Warning:** " } else { "" };
            let _ = writeln!(out, "> {word}{}\n", text(note));
        }
        Block::Fold { title, blocks, .. } => {
            let _ = writeln!(out, "### {}\n", escape(title));
            blocks.iter().for_each(|block| block_markdown(block, out));
        }
    }
}

fn list(items: impl Iterator<Item = String>, out: &mut String) {
    for item in items {
        let _ = writeln!(out, "- {item}");
    }
    out.push('\n');
}

/// Writes a code block whose fence is longer than any run of backquotes inside.
fn code(caption: &str, content: &str, out: &mut String) {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{}:\n\n{fence}\n{}\n{fence}\n", escape(caption), content.trim_end_matches('\n'));
}

fn table_markdown(table: &Table, out: &mut String) {
    let _ = writeln!(out, "**{}**\n", escape(&table.caption));
    let heads: Vec<String> = table.columns.iter().map(|column| escape(&column.label())).collect();
    let rules = table.columns.iter().map(|column| if column.align == Align::Left { "---" } else { "---:" });
    let _ = writeln!(out, "| {} |\n| {} |", heads.join(" | "), rules.collect::<Vec<_>>().join(" | "));
    for row in &table.rows {
        let _ = writeln!(out, "| {} |", row_markdown(row));
    }
    out.push('\n');
    if !table.note.is_empty() {
        let _ = writeln!(out, "{}\n", text(&table.note));
    }
}

fn row_markdown(row: &Row) -> String {
    let cells = row.cells.iter().map(|cell| match row.style {
        RowStyle::Best | RowStyle::Total if !cell.text.is_empty() => {
            format!("**{}**", escape(&cell.one_line()))
        }
        _ if cell.is_listing() => cell.text.lines().map(escape).collect::<Vec<_>>().join("<br>"),
        _ => escape(&cell.one_line()),
    });
    cells.collect::<Vec<_>>().join(" | ")
}

/// Renders text as one line.
pub(super) fn text(text: &Text) -> String {
    let spans = text.0.iter().map(|span| match span {
        Span::Plain(text) => escape(text),
        Span::Strong(text) => strong(text),
        Span::Code(text) => inline_code(text),
    });
    spans.collect()
}

/// Moves spaces out of the asterisks: Markdown has no emphasis that begins or ends with a space.
fn strong(text: &str) -> String {
    let core = text.trim();
    let (before, after) = text.split_once(core).unwrap_or((text, ""));
    if core.is_empty() { text.to_owned() } else { format!("{before}**{}**{after}", escape(core)) }
}

fn inline_code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let text = text.replace(['\n', '\r'], " ").replace('|', "\\|");
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// Escapes characters with a meaning in Markdown or HTML; line breaks become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn a_hostile_path_stays_in_its_cell() {
        let path = "/a|b<script>alert(1)</script>\n`x`*_[y](z)";
        let table = Table::new("t", vec![Column::words("File")], vec![Row::plain([path])]);
        let mut out = String::new();
        table_markdown(&table, &mut out);
        let row = out.lines().nth(4).unwrap();
        assert_eq!(row, r"| /a\|b&lt;script&gt;alert(1)&lt;/script&gt;<br>\`x\`\*\_\[y\](z) |");
    }

    #[test]
    fn a_file_with_fences_stays_in_its_fence() {
        let mut out = String::new();
        code("nginx.conf", "a\n```\nb\n", &mut out);
        assert_eq!(out, "nginx.conf:\n\n````\na\n```\nb\n````\n\n");
        assert_eq!(inline_code("a`b|c"), r"`` a`b\|c ``");
    }

    #[test]
    fn spaces_stay_outside_of_stress() {
        assert_eq!(strong("Load point 1: "), "**Load point 1:** ");
        assert_eq!(strong(" "), " ");
    }
}
