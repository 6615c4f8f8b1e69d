//! Price of the configuration by item, and price/performance.

use analysis::price::{PointPrice, PricePerformance, price_performance};
use languages::NamedValues;
use model::{Discount, Maintenance, Price, PriceItem, PriceKind, Term, TermUnit};
use units::{Currency, Decimal, Money, UnitPrice};

use super::{is_doubtful, state_text};
use crate::report::load_number;
use crate::{
    Block, Cell, Column, NoteKind, PriceSheet, Report, Row, RowStyle, Section, Table, Text, Tile, numbers,
};

pub(super) fn section(report: &Report) -> Option<Section> {
    let sheet = report.price?;
    let prices = price_performance(&sheet.list, report.analysis);
    let mut blocks = vec![Block::Tiles(tiles(report, sheet, &prices))];
    if prices.per_headline.is_none() {
        let text = if report.plan.shape.is_some() {
            "The load changed over time, so there is no headline and no price ÷ headline."
        } else {
            "No load point is valid, so there is no price ÷ headline."
        };
        blocks.push(Block::Note(NoteKind::Warning, text.into()));
    }
    blocks.push(Block::Table(items_table(sheet)));
    if !prices.load_points.is_empty() {
        blocks.push(Block::Table(points_table(report, sheet, &prices)));
    }
    blocks.push(Block::Facts(facts(sheet)));
    Some(Section { id: "price", title: "Price and performance".into(), blocks })
}

/// Says in a line what the configuration costs, and what of that falls to each unit of the headline; `None` without a
/// price list. To be printed with the verdict.
pub fn price_text(report: &Report) -> Option<String> {
    let sheet = report.price?;
    let prices = price_performance(&sheet.list, report.analysis);
    let total = format!("Price: {} ({})", prices.total, sheet.list.date);
    Some(match (prices.per_headline, &report.analysis.headline) {
        (Some(price), Some(headline)) => {
            format!("{total}, {price} for each of {} {}.", numbers::figure(headline.value), headline.name)
        }
        _ => format!("{total}."),
    })
}

fn tiles(report: &Report, sheet: &PriceSheet, prices: &PricePerformance) -> Vec<Tile> {
    let dated = format!("prices of {}", sheet.list.date);
    let total = Tile { name: "Total price".into(), value: numbers::money(prices.total), note: dated };
    let headline = report.analysis.headline.as_ref();
    let per_headline = prices.per_headline.zip(headline).map(|(price, headline)| {
        let modified = if report.analysis.modifications.is_empty() { "" } else { ", modified" };
        let verdict = state_text(report.analysis.verdict.state);
        let value = numbers::figure(headline.value);
        Tile {
            name: "Price ÷ headline".into(),
            value: numbers::unit_price(price),
            note: format!("for each of {value} {}; run {verdict}{modified}", headline.name),
        }
    });
    [total].into_iter().chain(per_headline).collect()
}

/// Makes the list as a table: items with their maintenance, the sum of each kind, the total.
fn items_table(sheet: &PriceSheet) -> Table {
    let list = &sheet.list;
    let columns = vec![
        Column::words("Item"),
        Column::words("Kind"),
        Column::numbers("Quantity", ""),
        Column::numbers(format!("Unit price ({})", list.currency), ""),
        Column::words("For"),
        Column::words("Discount"),
        Column::numbers(format!("Amount ({})", list.currency), ""),
        Column::words("Source"),
    ];
    let mut rows: Vec<Row> = list.items().iter().flat_map(|item| item_rows(item, list.currency)).collect();
    let sum = |name: &str, amount: Money| {
        let cells = [name, "", "", "", "", "", &numbers::group(&amount.digits()), ""];
        Row::plain(cells).style(RowStyle::Total)
    };
    let subtotals = list.subtotals();
    if 1 < subtotals.len() {
        rows.extend(subtotals.iter().map(|(kind, amount)| sum(&format!("All {}", kind.name()), *amount)));
    }
    rows.push(sum("Total", list.total()));
    Table::new(format!("Prices of {}", list.title), columns, rows).note(
        "Amount = quantity × unit price × term × (1 − discount), rounded once. A year has 8766 hours, a month 730.5. \
         Maintenance counts as such, whatever it maintains.",
    )
}

fn item_rows(item: &PriceItem, currency: Currency) -> Vec<Row> {
    let (unit_price, term) = match item.price {
        Price::Once(price) => (unit_text(price, "", currency), String::new()),
        Price::PerHour { price, term } => (unit_text(price, "/h", currency), term_text(term)),
    };
    let mut rows = vec![Row::plain([
        item.name.clone().into(),
        item.kind.name().into(),
        numbers::count(u64::from(item.quantity)).into(),
        unit_price.into(),
        term.into(),
        discount_cell(item.discount.as_ref()),
        numbers::group(&item.amount.digits()).into(),
        Cell::with(item.source.clone(), item.date.clone()),
    ])];
    rows.extend(item.maintenance.as_ref().map(|maintenance| maintenance_row(item, maintenance, currency)));
    rows
}

fn maintenance_row(item: &PriceItem, maintenance: &Maintenance, currency: Currency) -> Row {
    Row::plain([
        Cell::from(format!("Maintenance of {}", item.name)),
        PriceKind::Maintenance.name().into(),
        numbers::count(u64::from(item.quantity)).into(),
        unit_text(maintenance.per_year, "/year", currency).into(),
        term_text(Term { number: maintenance.years, unit: TermUnit::Years }).into(),
        discount_cell(maintenance.discount.as_ref()),
        numbers::group(&maintenance.amount.digits()).into(),
        Cell::with(item.source.clone(), item.date.clone()),
    ])
}

fn unit_text(price: Decimal, per: &str, currency: Currency) -> String {
    numbers::group(&price.text(currency.decimals())) + per
}

fn term_text(term: Term) -> String {
    let unit = term.unit.name();
    let unit = if term.number == Decimal::ONE { unit.trim_end_matches('s') } else { unit };
    format!("{} {unit}", numbers::group(&term.number.to_string()))
}

fn discount_cell(discount: Option<&Discount>) -> Cell {
    let Some(Discount { ratio, reason }) = discount else { return "".into() };
    let percent = ratio.checked_mul(Decimal::from(100)).unwrap_or(*ratio);
    Cell::with(format!("{percent} %"), reason.clone())
}

/// One of the prices of a load point.
type Of = fn(&PointPrice) -> Option<UnitPrice>;

/// Makes the table of load points; columns that no load point has a price for are left out.
fn points_table(report: &Report, sheet: &PriceSheet, prices: &PricePerformance) -> Table {
    let terms = report.terms();
    let currency = sheet.list.currency;
    let mut all: Vec<(String, Of)> =
        vec![(format!("Per {}", report.analysis.words.user.one), |point| point.per_user)];
    if !terms.is_operation_rate {
        all.push((format!("Per {}", terms.score_heading), |point| point.per_score));
    }
    all.push(("Per operation/second".to_owned(), |point| point.per_rate));
    all.push(("Per million operations".to_owned(), |point| point.per_million));
    let has = |of: &Of| prices.load_points.iter().any(|point| of(point).is_some());
    let kept: Vec<(String, Of)> = all.into_iter().filter(|(_, of)| has(of)).collect();
    let mut columns = vec![Column::numbers(terms.load(), "")];
    columns.extend(kept.iter().map(|(name, _)| Column::numbers(format!("{name} ({currency})"), "")));
    columns.push(Column::words("Verdict"));
    let best = report.analysis.headline.as_ref().map(|headline| headline.load_point);
    let points = report.analysis.load_points.iter().zip(&prices.load_points).enumerate();
    let rows = points.map(|(index, (point, price))| {
        let mut cells = vec![load_number(point.load)];
        cells.extend(kept.iter().map(|(_, of)| {
            of(price).map_or(numbers::ABSENT.to_owned(), |one| numbers::group(&one.digits()))
        }));
        cells.push(state_text(point.verdict.state).to_owned());
        match (is_doubtful(point), best == Some(index)) {
            (true, _) => Row::plain(cells).style(RowStyle::Invalid),
            (false, true) => Row::plain(cells).style(RowStyle::Best),
            (false, false) => Row::plain(cells),
        }
    });
    let rows = rows.collect();
    Table::new("Price ÷ performance per load point", columns, rows).note(
        "Total price ÷ users and ÷ successful operations per second. The price of a million operations is that of the time \
         they take at this rate; it exists only if everything is paid by the hour.",
    )
}

fn facts(sheet: &PriceSheet) -> Vec<(String, Text)> {
    let list = &sheet.list;
    let facts = [
        ("Price list", Some(Text::default().code(sheet.file.clone()))),
        ("Hash of the list (blake3)", Some(sheet.blake3.clone().into())),
        ("Prices of", Some(list.date.clone().into())),
        ("Available from", list.available.clone().map(Text::from)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
