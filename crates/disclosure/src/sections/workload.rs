//! The workload: its requests, their shares and the expected responses.

use model::{
    ConnectionLifetime, Cookies, DataSet, OperationKind, Page, Parameter, Redirects, ReplyBody, Request,
    ThinkTime, ValueCount, WebWorkload,
};

use super::kinds::{in_unit, measure_unit};
use crate::{Block, Column, Report, Row, RowStyle, Section, Table, Text, numbers};

/// The greatest length of a body that counts as unlimited.
const LENGTH_MAX: u64 = 1 << 50;

pub(super) fn section(report: &Report) -> Option<Section> {
    match report.web() {
        Some(workload) => Some(web_section(report, workload)),
        None => Some(catalog_section(report)),
    }
}

/// Makes the section of a workload of which the report knows only the catalog.
fn catalog_section(report: &Report) -> Section {
    let catalog = &report.plan.catalog;
    let expected: Vec<usize> = (0..catalog.measures.len())
        .filter(|measure| (0..catalog.kinds.len()).any(|kind| catalog.expected(kind, *measure).is_some()))
        .collect();
    let mut columns = vec![Column::words("Operation"), Column::numbers("Share", "%")];
    columns.extend(expected.iter().map(|measure| {
        let measure = &catalog.measures[*measure];
        Column::numbers(format!("Expected {}", measure.name), measure_unit(measure.unit))
    }));
    let row = |(index, kind): (usize, &OperationKind)| {
        let share = numbers::fixed(kind.share.map(|share| share * 100.0), 2);
        let values = expected.iter().map(|measure| {
            let expected = catalog.expected(index, *measure);
            numbers::figure(expected.map(|one| in_unit(one.mean, catalog.measures[*measure].unit)))
        });
        Row::plain([kind.name.clone(), share].into_iter().chain(values))
    };
    let rows = catalog.kinds.iter().enumerate().map(row).collect();
    let mut blocks = Vec::new();
    blocks.extend(think(report, "operation").map(|text| Block::Paragraph(text.into())));
    blocks.push(Block::Table(Table::new("Operations", columns, rows)));
    Section { id: "workload", title: "Workload".into(), blocks }
}

fn web_section(report: &Report, workload: &WebWorkload) -> Section {
    let plain = workload.requests.iter().all(is_plain_file);
    let mut blocks = vec![Block::Paragraph(Text::from(introduction(report, workload)))];
    blocks.extend(behavior(report, workload).map(|text| Block::Paragraph(text.into())));
    if !plain {
        blocks.push(Block::Table(requests(report, workload)));
        blocks.extend(parameters(report, workload).map(Block::Table));
        blocks.extend(data(workload).map(Block::Table));
    }
    let grouped = workload.pages.iter().any(|page| 1 < page.requests.len());
    if plain || grouped {
        blocks.push(Block::Table(pages(report, workload)));
    }
    let title = if plain { "Workload filelist" } else { "Workload" };
    Section { id: "workload", title: title.into(), blocks }
}

/// A file that is fetched by its path and nothing else.
fn is_plain_file(request: &Request) -> bool {
    let by_path = request.method == "GET" && request.parameters.is_empty() && request.body.is_empty();
    by_path && request.headers.is_empty() && matches!(request.reply, ReplyBody::File(_))
}

fn introduction(report: &Report, workload: &WebWorkload) -> String {
    let groups = workload.pages.iter().any(|page| 1 < page.requests.len());
    let plain = workload.requests.iter().all(is_plain_file);
    let what = if plain { "files" } else { "requests" };
    let picked = match (report.is_open(), groups) {
        (true, _) if !report.plan.workload.has_user_state() => {
            "Every operation is a request, chosen by weight.".to_owned()
        }
        (true, _) => format!(
            "Every operation is the next request of a user. A page is a group of {what}. A user chooses a page by weight and \
             fetches its {what} in order."
        ),
        (false, true) => format!(
            "A page is a group of {what}. A user chooses a page by weight and fetches its {what} in order."
        ),
        (false, false) if plain => {
            "Every page is one file. A user chooses a page by weight and fetches it.".to_owned()
        }
        (false, false) => "A user makes one request after another, each chosen by weight.".to_owned(),
    };
    let sizes = match workload.mean_body_bytes() {
        Some(mean) => format!(
            "a request receives a body of {} B, with a standard deviation of {} B",
            numbers::figure(mean),
            numbers::figure(workload.body_bytes_deviation())
        ),
        None => "a request receives a body whose length is not known in advance".to_owned(),
    };
    let pages = match workload.bytes_per_page() {
        Some(bytes) if !report.is_open() && (groups || plain) => format!(
            "On average a page has {} {what} and {} B, and ",
            numbers::fixed(workload.requests_per_page(), 2),
            numbers::figure(bytes)
        ),
        _ => "On average ".to_owned(),
    };
    let content = match workload.n_files(report.plan.level_max()) {
        0 => String::new(),
        _ => format!(" The content of the files follows from the content seed {}.", workload.content_seed),
    };
    format!("{picked} {pages}{sizes}.{content}")
}

/// Returns the behavior of users between requests: think time and the end of connections.
fn behavior(report: &Report, workload: &WebWorkload) -> Option<String> {
    let sessions = (workload.protocol.connection == ConnectionLifetime::Sessions).then(|| {
        "A connection carries one session of random length: 1 request in 30 % of the sessions, 5 to 15 requests in \
         6.36 % each, as in SPECweb99."
            .to_owned()
    });
    let texts: Vec<String> =
        think(report, "page").into_iter().chain(sessions).chain(user_sessions(workload)).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// Returns what users keep from one request to the next; `None` if it is nothing.
fn user_sessions(workload: &WebWorkload) -> Option<String> {
    let cookies = match workload.cookies {
        Cookies::None => None,
        Cookies::Page => Some("Users keep cookies until the end of a page.".to_owned()),
        Cookies::User => Some("Users keep cookies for the whole load point.".to_owned()),
    };
    let names = workload.extracted_names();
    let values = match names.as_slice() {
        [] => None,
        names => Some(format!(
            "From replies they take the values “{}”, which later requests use; none is stored or shown.",
            names.join("”, “")
        )),
    };
    let texts: Vec<String> = cookies.into_iter().chain(values).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// Returns the pauses of users after each unit of their work; `None` without any.
fn think(report: &Report, unit: &str) -> Option<String> {
    match report.plan.workload.think() {
        _ if report.is_open() => None,
        ThinkTime::None => None,
        ThinkTime::Recorded => Some("Users pause as recorded.".to_owned()),
        _ if 1 < report.plan.catalog.pauses.len() => Some(pauses_in_words(report, unit)),
        ThinkTime::Scripted(time) => {
            Some(format!("Users pause {} on average after each {unit}.", numbers::time(time)))
        }
        ThinkTime::Fixed(time) => Some(format!("Users pause {} after each {unit}.", numbers::time(time))),
        ThinkTime::Exponential(time) => Some(format!(
            "Users pause after each {unit}; the pauses have a negative exponential distribution with mean {}, not truncated.",
            numbers::time(time)
        )),
    }
}

/// Describes pauses of several kinds.
fn pauses_in_words(report: &Report, unit: &str) -> String {
    let kinds = report.plan.catalog.pauses.iter().map(|pause| {
        let mean = numbers::time(pause.time.mean());
        match pause.time {
            ThinkTime::Exponential(_) => format!("{} (mean {mean}, negative exponential)", pause.name),
            ThinkTime::Fixed(_) | ThinkTime::None | ThinkTime::Recorded | ThinkTime::Scripted(_) => {
                format!("{} ({mean})", pause.name)
            }
        }
    });
    let mean = numbers::time(report.plan.workload.think().mean());
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    format!("From one {unit} to the next, users pause {mean} on average in all: {kinds}.")
}

fn requests(report: &Report, workload: &WebWorkload) -> Table {
    let columns = vec![
        Column::words("Request"),
        Column::numbers("Share", "%"),
        Column::words("Method"),
        Column::words("Path"),
        Column::numbers("Objects", ""),
        Column::words("Expected response"),
        Column::numbers("Mean body", "B"),
        Column::numbers("Bytes", "%"),
    ];
    let level = report.plan.level_max();
    let row = |(kind, request): (usize, &Request)| {
        let share = workload.request_share(kind);
        let mean = request.body_moments().map(|(mean, _)| mean);
        Row::plain([
            request.name.clone(),
            numbers::fixed(share * 100.0, 2),
            request.method.clone(),
            request.path.to_string(),
            numbers::count(request.objects(level)),
            reply_text(request),
            numbers::figure(mean),
            numbers::fixed(share_of_bytes(workload, share, mean).map(|bytes| bytes * 100.0), 2),
        ])
    };
    let rows = workload.requests.iter().enumerate().map(row).collect();
    let note = format!("Number of objects at the highest load, {}.", highest(report));
    let more = "The JSON form of this report has the header fields and bodies of the requests.";
    let sends = workload.requests.iter().any(|one| !one.headers.is_empty() || !one.body.is_empty());
    Table::new("Requests", columns, rows).note(if sends { format!("{note} {more}") } else { note })
}

fn reply_text(request: &Request) -> String {
    let body = match &request.reply {
        ReplyBody::File(_) => {
            let (least, most) = request.body_limits().unwrap_or_default();
            if least == most {
                format!("file of {} B", numbers::count(least))
            } else {
                format!("file of {} to {} B", numbers::count(least), numbers::count(most))
            }
        }
        ReplyBody::Letters { bytes, markup: false } => format!("{} letters", numbers::count(*bytes)),
        ReplyBody::Letters { bytes, markup: true } => format!("{} B of HTML", numbers::count(*bytes)),
        ReplyBody::Empty => "no body".to_owned(),
        ReplyBody::Seen => "same body as the first response, until the page changes".to_owned(),
        ReplyBody::Same => "same body as the first response".to_owned(),
        ReplyBody::Any => "any body".to_owned(),
        ReplyBody::Contains(text) => format!("a body that contains “{text}”"),
        ReplyBody::ContentType(expected) => format!("{expected}, body not compared"),
        ReplyBody::Length { least, most: LENGTH_MAX.. } => {
            format!("a body of {} B or more", numbers::count(*least))
        }
        ReplyBody::Length { least, most } => {
            format!("a body of {} to {} B", numbers::count(*least), numbers::count(*most))
        }
        ReplyBody::Json(checks) => {
            let places = checks.iter().map(|check| format!("“{}”", check.pointer)).collect::<Vec<String>>();
            format!("JSON with the expected values at {}", places.join(", "))
        }
    };
    let statuses = [request.status].into_iter().chain(request.other_statuses.iter().copied());
    let statuses = statuses.map(|status| status.to_string()).collect::<Vec<String>>().join(" or ");
    let redirects = if request.redirects == Redirects::Follow { " after redirects" } else { "" };
    format!("{statuses}{redirects}, {body}")
}

/// Lists the data of users: their files, never their values.
fn data(workload: &WebWorkload) -> Option<Table> {
    let row = |data: &DataSet| {
        Row::plain([
            data.name.clone(),
            data.file.clone(),
            numbers::count(data.rows),
            data.pick.to_string(),
            data.at_end.to_string(),
            data.hash.clone(),
        ])
    };
    let columns = vec![
        Column::words("Data"),
        Column::words("File"),
        Column::numbers("Rows", ""),
        Column::words("Rows of a user"),
        Column::words("After the last"),
        Column::words("BLAKE3 hash"),
    ];
    let note = "A user takes a row per page. The values are neither stored nor shown.";
    let table = Table::new("Data", columns, workload.data.iter().map(row).collect()).note(note);
    (!workload.data.is_empty()).then_some(table)
}

/// Lists each parameter once, however many requests have the same.
fn parameters(report: &Report, workload: &WebWorkload) -> Option<Table> {
    let mut known: Vec<&Parameter> = Vec::new();
    for parameter in workload.requests.iter().flat_map(|request| &request.parameters) {
        if !known.contains(&parameter) {
            known.push(parameter);
        }
    }
    let level = report.plan.level_max();
    let row = |parameter: &&Parameter| {
        let count = match parameter.count {
            ValueCount::Fixed(count) => numbers::count(count),
            ValueCount::SquareRoot(factor) => {
                format!("⌈√({factor} · load)⌉ = {}", numbers::count(parameter.count.at(level)))
            }
        };
        Row::plain([parameter.name.clone(), first_text(parameter), count, parameter.pick.to_string()])
    };
    let columns = vec![
        Column::words("Parameter"),
        Column::words("First value, or all texts"),
        Column::numbers("Values", ""),
        Column::words("Distribution"),
    ];
    let note = format!(
        "Number of values at the highest load, {}. The probability of the i-th of n values is 1/n (uniform), \
         or proportional to i⁻ˢ (zipf:s), to mⁱ/i! (poisson:m), or to its weight.",
        highest(report)
    );
    let table = Table::new("Parameters", columns, known.iter().map(row).collect()).note(note);
    (!known.is_empty()).then_some(table)
}

fn first_text(parameter: &Parameter) -> String {
    if parameter.texts.is_empty() {
        numbers::count(parameter.first)
    } else {
        parameter.texts.iter().map(|text| format!("“{text}”")).collect::<Vec<_>>().join(", ")
    }
}

fn highest(report: &Report) -> String {
    report.plan.load_max().map_or(String::new(), |load| report.terms().load_text(load))
}

fn share_of_bytes(workload: &WebWorkload, share: f64, mean: Option<f64>) -> Option<f64> {
    Some(share * mean? / workload.mean_body_bytes()?)
}

fn pages(report: &Report, workload: &WebWorkload) -> Table {
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
        format!("{} files", numbers::count(workload.n_files(report.plan.level_max()))),
        numbers::count(report.file_set_bytes()),
        "100.00".to_owned(),
        "100.00".to_owned(),
    ];
    rows.push(Row::plain(total).style(RowStyle::Total));
    Table::new("Pages, files and weights", columns, rows)
}

fn page_rows<'a>(workload: &'a WebWorkload, index: usize, page: &'a Page) -> impl Iterator<Item = Row> + 'a {
    page.requests.iter().enumerate().filter_map(move |(position, kind)| {
        let request = workload.requests.get(*kind as usize)?;
        let share = workload.request_share(*kind as usize);
        let mean = request.body_moments().map(|(mean, _)| mean);
        let first = |text: String| if position == 0 { text } else { String::new() };
        Some(Row::plain([
            first((index + 1).to_string()),
            first(numbers::count(page.weight)),
            request.name.clone(),
            numbers::figure(mean),
            numbers::fixed(share * 100.0, 2),
            numbers::fixed(share_of_bytes(workload, share, mean).map(|bytes| bytes * 100.0), 2),
        ]))
    })
}
