//! Pages as a browser lays them out: nothing cut off, a chart on the first screen, letters that can be read, few sheets of
//! paper.
//!
//! Needs `chromium` and `pdftotext`. Where they are missing, tests say that nothing was looked at; what can be told without a
//! browser is in `layout.rs`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use disclosure::{CampaignRun, campaign_document, outline, render};
use serde_json::Value;

use crate::fixture;

/// Measures a page, after unfolding all that is folded, and leaves the result in its title.
const MEASURE: &str = "<script>
const lead = document.querySelector('.lead svg:not([style*=none])');
const shown = [...document.querySelectorAll('.lead svg')].find(svg => 0 < svg.getBoundingClientRect().height);
const letters = [...document.querySelectorAll('svg.chart')].map(svg => svg.getBoundingClientRect().width)
  .map((width, at) => [width, document.querySelectorAll('svg.chart')[at].viewBox.baseVal.width])
  .filter(([width]) => 0 < width).map(([width, drawn]) => 12 * width / drawn);
const bottom = shown ? shown.getBoundingClientRect().bottom : 1e9;
document.querySelectorAll('details').forEach(details => { details.open = true; });
const cut = [...document.querySelectorAll('.table')].filter(table => table.clientWidth < table.scrollWidth)
  .map(table => table.getAttribute('aria-label') + ' ' + table.scrollWidth + ' > ' + table.clientWidth);
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
document.title = JSON.stringify({ bottom, letters: Math.min(...letters), cut, wide });
</script></body>";

/// Returns the pages of all kinds.
fn pages() -> Vec<(&'static str, String)> {
    let one = |fixture: fixture::Fixture| render::html(&outline(&fixture.report()));
    let servers = [
        ("nginx, fastcgi × 4", fixture::valid()),
        ("apache behind an accelerator", fixture::full()),
        ("caddy", fixture::open_loop()),
        ("a server with a name that is long", fixture::quick()),
    ];
    let campaign: Vec<CampaignRun> = servers
        .iter()
        .map(|(name, run)| CampaignRun { name, server: name, began: &[], report: run.report() })
        .collect();
    vec![
        ("quick", one(fixture::quick())),
        ("open loop", one(fixture::open_loop())),
        ("classes", one(fixture::classes())),
        ("thinking", one(fixture::thinking())),
        ("clients", one(fixture::clients())),
        ("full", one(fixture::full())),
        ("campaign", render::html(&campaign_document(&campaign))),
    ]
}

/// Runs the browser without a window; `None` if there is none.
fn chromium(arguments: &[&str], page: &Path) -> Option<Output> {
    // It refuses to lock itself in as root; the page is our own, and loads nothing.
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    let output = command.args(arguments).arg(format!("file://{}", page.display())).output();
    match output {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("NOT CHECKED: `chromium` is not installed, so no page was laid out");
            None
        }
    }
}

/// Measures a page in a window of a size; `None` without a browser.
fn measured(html: &str, size: &str) -> Option<Value> {
    laid_out(&html.replace("</body>", MEASURE), size)
}

/// Lays a page out that measures itself, and returns what it found; `None` without a browser.
fn laid_out(html: &str, size: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, html).unwrap();
    let output = chromium(&["--dump-dom", &format!("--window-size={size}")], &page)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let (title, _) = title.unwrap_or_else(|| panic!("no page: {output:?}"));
    let title = title.replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&title).unwrap_or_else(|error| panic!("{error}: {title}")))
}

#[test]
fn nothing_is_cut_off_on_a_usual_screen_and_a_chart_is_on_the_first_one() {
    for (name, html) in pages() {
        let Some(page) = measured(&html, "1280,800") else { return };
        assert_eq!(page["cut"], serde_json::json!([]), "{name}");
        assert!(page["wide"].as_f64().unwrap() <= 0.0, "{name}: {page}");
        assert!(page["bottom"].as_f64().unwrap() <= 800.0, "{name}: {page}");
        assert!(9.0 <= page["letters"].as_f64().unwrap(), "{name}: {page}");
    }
}

/// Puts a page into a frame of a phone's width: windows without a screen are 500 px wide at least.
fn on_a_phone(html: &str) -> String {
    let page = html.replace("</body>", MEASURE).replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><title></title><body><iframe width='400' height='900' srcdoc=\"{page}\" \
         onload='document.title = this.contentDocument.title'></iframe></body>"
    )
}

#[test]
fn letters_of_charts_can_be_read_on_a_narrow_screen() {
    for (name, html) in pages() {
        let Some(page) = laid_out(&on_a_phone(&html), "500,950") else { return };
        assert!(9.0 <= page["letters"].as_f64().unwrap(), "{name}: {page}");
        assert!(page["wide"].as_f64().unwrap() <= 0.0, "{name}: {page}");
    }
}

/// Goal: the checks themselves can fail: a table that does not fit and a scaled-down picture are found.
#[test]
fn a_page_that_is_spoiled_is_found() {
    let (_, html) = pages().swap_remove(0);
    let spoiled = html.replace("overflow-wrap: anywhere; min-width: 7ch", "min-width: 70ch");
    assert!(spoiled != html);
    let Some(page) = measured(&spoiled, "1280,800") else { return };
    assert!(!page["cut"].as_array().unwrap().is_empty(), "{page}");
    let spoiled = html.replace(
        "svg.narrow { display: block; max-width: 520px; }",
        "svg.narrow { display: block; max-width: 200px; }",
    );
    assert!(spoiled != html);
    let page = laid_out(&on_a_phone(&spoiled), "500,950").unwrap();
    assert!(page["letters"].as_f64().unwrap() < 9.0, "{page}");
}

/// Returns the number of lines on each sheet of a printed page; `None` as of [`printed_text`].
fn printed(html: &str) -> Option<Vec<usize>> {
    let text = printed_text(html)?;
    let n_lines = |sheet: &str| sheet.lines().filter(|line| !line.trim().is_empty()).count();
    // A form feed ends every sheet, the last one too.
    Some(text.trim_end_matches('\u{c}').split('\u{c}').map(n_lines).collect())
}

/// Prints a page on paper and returns its text, without what the browser writes at head and foot; `None` without a browser
/// or without `pdftotext`.
fn printed_text(html: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let pdf = folder.path().join("page.pdf");
    fs::write(&page, html).unwrap();
    chromium(&["--no-pdf-header-footer", &format!("--print-to-pdf={}", pdf.display())], &page)?;
    let Ok(text) = Command::new("pdftotext").arg("-layout").args([&pdf]).arg("-").output() else {
        eprintln!("NOT CHECKED: `pdftotext` is not installed, so no sheet was looked at");
        return None;
    };
    Some(String::from_utf8_lossy(&text.stdout).into_owned())
}

/// Folded sections and folds within them are printed; what a chart draws second by second is not.
#[test]
fn what_is_folded_is_printed() {
    let (_, html) = pages().swap_remove(0);
    assert!(html.contains("<details class=\"section\"><summary><h2>Per-file statistics"));
    let Some(text) = printed_text(&html) else { return };
    for detail in
        ["Per-file statistics", "Times and sizes per file", "Std dev is the population", "not printed"]
    {
        assert!(text.contains(detail), "{detail}");
    }
}

#[test]
fn a_quick_report_is_printed_on_at_most_ten_pages() {
    let (_, html) = pages().swap_remove(0);
    let Some(sheets) = printed(&html) else { return };
    assert!((3..=10).contains(&sheets.len()), "{sheets:?}");
}

#[test]
fn no_sheet_has_next_to_nothing() {
    for (name, html) in pages() {
        let Some(sheets) = printed(&html) else { return };
        assert!(sheets.iter().all(|n_lines| 4 <= *n_lines), "{name}: {sheets:?}");
    }
}
