//! `pdf`: checks of the feature `pdf`, which costs too much to be part of `test`.
//!
//! Builds the program with it, runs the tests and lints that need it, creates the report of a short run, and
//! inspects the PDF with poppler's tools: its metadata, its fonts, its text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use proving::build::executable_of;
use proving::packages::{RequiredPackage, install};
use proving::shell::{cargo, line, output, root, run, say};
use units::{Clock, RealClock};

use crate::licenses;

const NEEDED: [RequiredPackage; 3] =
    [("pdfinfo", "poppler-utils"), ("pdffonts", "poppler-utils"), ("pdftotext", "poppler-utils")];

const FEATURE: &str = "plimsoll/pdf";

/// Text in the report of every run, besides page numbers.
const WORDS: [&str; 7] =
    ["One object", "Contents", "Plimsoll disclosure report", "Results", "Method", "Figure 1.", "Table 1."];

/// Builds, tests and inspects; keeps the PDF for manual inspection.
pub(crate) fn perform() -> Result<()> {
    install(&NEEDED)?;
    licenses::perform(&[FEATURE])?;
    let plimsoll =
        executable_of(cargo(&["build", "--release", "--package", "plimsoll", "--features", FEATURE]))?;
    // The release profile, for which the typesetter was already compiled.
    run(say(&mut cargo(&["test", "--release", "--package", "pdf", "--features", "typst"])))?;
    let made = ["test", "--release", "--package", "plimsoll", "--features", "pdf", "--test", "cli", "pdf::"];
    run(say(&mut cargo(&made)))?;
    let lints = ["clippy", "--release", "--package", "pdf", "--package", "plimsoll", "--all-targets"];
    run(say(cargo(&lints).args(["--features", FEATURE, "--", "-D", "warnings"])))?;
    let pdf = report(&plimsoll)?;
    let n_pages = look(&pdf)?;
    println!("{}: {n_pages} pages, nothing wrong.", pdf.display());
    Ok(())
}

/// Creates the PDF of a short run. Its verdict does not matter here: a busy machine may spoil it.
fn report(plimsoll: &Path) -> Result<PathBuf> {
    let folder = root().join("target/pdf");
    // A run that was killed leaves more than its file.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let file = folder.join("run.plim");
    let pdf = folder.join("report.pdf");
    let mut short = Command::new(plimsoll);
    short
        .args(["run", "one-object", "--load", "1,2,4", "--settle", "0", "--duration", "2", "--out"])
        .arg(&file);
    let status = say(&mut short).status()?;
    ensure!(matches!(status.code(), Some(0 | 3)), "`{}` ended with {status}", line(&short));
    let clock = RealClock::start();
    run(Command::new(plimsoll).arg("report").arg(&file).arg("--pdf").arg(&pdf))?;
    let seconds = clock.now().as_secs_f64();
    let bytes = fs::metadata(&pdf)?.len();
    println!("set in {seconds:.2} s, {bytes} bytes");
    Ok(pdf)
}

/// Inspects a PDF; returns its number of pages.
fn look(pdf: &Path) -> Result<u32> {
    let info = output(Command::new("pdfinfo").arg(pdf))?;
    for (name, expected) in [("Tagged", "yes"), ("Author", "Plimsoll"), ("Page size", "(A4)")] {
        let found = field(&info, name);
        let right = found.is_some_and(|found| found.ends_with(expected));
        ensure!(right, "{name}: expected `{expected}`, found {found:?}");
    }
    ensure!(field(&info, "Title").is_some_and(|title| !title.is_empty()), "no title:\n{info}");
    let n_pages: u32 = field(&info, "Pages").and_then(|n| n.parse().ok()).context("no number of pages")?;
    ensure!(3 <= n_pages, "only {n_pages} pages");

    let fonts = output(Command::new("pdffonts").arg(pdf))?;
    let loose = not_embedded(&fonts)?;
    ensure!(loose.is_empty(), "fonts that are not embedded: {}", loose.join(", "));

    let text = output(Command::new("pdftotext").args(["-layout"]).arg(pdf).arg("-"))?;
    let last = format!("{n_pages} of {n_pages}");
    let missing: Vec<&str> =
        WORDS.into_iter().chain([last.as_str()]).filter(|words| !text.contains(words)).collect();
    ensure!(missing.is_empty(), "the text lacks {missing:?}");
    ensure!(!text.contains(char::REPLACEMENT_CHARACTER), "there are characters that no font has");
    let sparse = sparse_pages(&text);
    ensure!(sparse.is_empty(), "pages with next to nothing on them: {sparse:?}");
    Ok(n_pages)
}

/// Minimum number of lines of a page, including header and footer.
const LINES_MIN: usize = 6;

/// Returns the pages, counted from 1, with fewer lines than [`LINES_MIN`] in the output of `pdftotext`.
fn sparse_pages(text: &str) -> Vec<usize> {
    // A form feed ends every page, including the last one.
    let pages = text.trim_end_matches('\u{c}').split('\u{c}').enumerate();
    let n_lines = |page: &str| page.lines().filter(|line| !line.trim().is_empty()).count();
    pages.filter(|(_, page)| n_lines(page) < LINES_MIN).map(|(index, _)| index + 1).collect()
}

/// Returns a field in the output of `pdfinfo`: `Pages:           12`.
fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

/// Returns the fonts that `pdffonts` lists without a `yes` under `emb`, the fifth column from the right.
fn not_embedded(table: &str) -> Result<Vec<String>> {
    let rows: Vec<Vec<&str>> = table.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    ensure!(!rows.is_empty(), "pdffonts lists no font:\n{table}");
    let mut loose = Vec::new();
    for row in rows {
        let index = row.len().checked_sub(5).with_context(|| format!("cannot read {row:?} from pdffonts"))?;
        if row[index] != "yes" {
            loose.push(row[0].to_owned());
        }
    }
    Ok(loose)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONTS: &str = "\
name                                 type              encoding         emb sub uni object ID
------------------------------------ ----------------- ---------------- --- --- --- ---------
HPBGAB+OpenSans-Regular              CID TrueType      Identity-H       yes yes yes     12  0
Helvetica                            Type 1            WinAnsi          no  no  no      13  0
";

    #[test]
    fn a_font_that_is_not_embedded_is_named() {
        assert_eq!(not_embedded(FONTS).unwrap(), ["Helvetica"]);
        let without: String = FONTS.lines().take(3).map(|line| format!("{line}\n")).collect();
        assert_eq!(not_embedded(&without).unwrap(), [""; 0]);
    }

    #[test]
    fn a_pdf_without_fonts_and_a_table_of_another_form_are_errors() {
        let head: String = FONTS.lines().take(2).map(|line| format!("{line}\n")).collect();
        assert!(not_embedded(&head).is_err());
        assert!(not_embedded(&format!("{head}x y\n")).is_err());
    }

    #[test]
    fn a_page_with_a_single_line_between_head_and_foot_is_named() {
        let full = "Report\n1\n2\n3\n\n4\n1 of 3\n\u{c}";
        let text = format!("{full}Report\n\nalone\n\n2 of 3\n\u{c}{full}");
        assert_eq!(sparse_pages(&text), [2]);
        assert_eq!(sparse_pages(full), [0; 0]);
    }

    #[test]
    fn fields_are_read_by_their_whole_name() {
        let info = "Title:           WebStone\nPages:           12\nPage size:       595 x 842 pts (A4)\n";
        assert_eq!(field(info, "Pages"), Some("12"));
        assert_eq!(field(info, "Page size"), Some("595 x 842 pts (A4)"));
        assert_eq!(field(info, "Page"), None);
    }
}
