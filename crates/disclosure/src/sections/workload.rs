//! The workload: files, sizes, weights.

use model::{Page, Workload};

use crate::{Block, Column, Report, Row, Section, Table, Text, Tone, numbers};

pub fn section(report: &Report) -> Option<Section> {
    let workload = &report.plan.workload;
    let groups = workload.pages.iter().any(|page| 1 < page.requests.len());
    let text = format!(
        "{} A user picks a page by its weight and fetches its files in order. Per page {} files and {} B on the mean; per \
         request a body of {} B with a standard deviation of {} B. What is in the files follows from the content seed {}.",
        if groups { "Pages are groups of files." } else { "Every page is one file." },
        numbers::fixed(workload.requests_per_page(), 2),
        numbers::fixed(workload.bytes_per_page(), 1),
        numbers::fixed(workload.mean_body_bytes(), 1),
        numbers::fixed(workload.body_bytes_deviation(), 0),
        workload.content_seed,
    );
    let blocks = vec![Block::Paragraph(Text::from(text)), Block::Table(table(report))];
    Some(Section { id: "workload", title: "Workload filelist".into(), blocks })
}

fn table(report: &Report) -> Table {
    let workload = &report.plan.workload;
    let columns = vec![
        Column::numbers("Page", ""),
        Column::numbers("Weight", ""),
        Column::words("File"),
        Column::numbers("Size", "B"),
        Column::numbers("Requests", "%"),
        Column::numbers("Bytes", "%"),
    ];
    let rows = workload.pages.iter().enumerate().flat_map(|(index, page)| page_rows(workload, index, page));
    let mut rows: Vec<Row> = rows.collect();
    let weights: u64 = workload.pages.iter().map(|page| page.weight).sum();
    let total = [
        "all".to_owned(),
        numbers::count(weights),
        format!("{} files", workload.requests.len()),
        numbers::count(report.file_set_bytes()),
        "100.00".to_owned(),
        "100.00".to_owned(),
    ];
    rows.push(Row::plain(total).tone(Tone::Total));
    Table::new("Pages, files and weights", columns, rows)
}

fn page_rows<'a>(workload: &'a Workload, index: usize, page: &'a Page) -> impl Iterator<Item = Row> + 'a {
    page.requests.iter().enumerate().filter_map(move |(place, kind)| {
        let request = workload.requests.get(*kind as usize)?;
        let share = workload.request_share(*kind as usize);
        let mean = request.body_moments().map(|(mean, _)| mean);
        let bytes = mean.zip(workload.mean_body_bytes()).map(|(mean, all)| share * mean / all);
        let first = |text: String| if place == 0 { text } else { String::new() };
        Some(Row::plain([
            first((index + 1).to_string()),
            first(numbers::count(page.weight)),
            request.name.clone(),
            numbers::fixed(mean, 0),
            numbers::fixed(share * 100.0, 2),
            numbers::fixed(bytes.map(|bytes| bytes * 100.0), 2),
        ]))
    })
}
