//! Price against performance: one marker per server, and lines of equal price per unit of the headline.

use analysis::price::price_performance;
use units::{Currency, Money, UnitPrice};

use super::group::Entry;
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Mark, Panel, Point, Spacing};
use crate::report::Terms;
use crate::{Cell, Column, Figure, Row, Table, numbers};

/// Maximum number of lines; the most expensive ones are omitted.
const LINES_MAX: usize = 5;

/// Ratio of each axis's end to the highest value.
const ROOM: f64 = 1.15;

/// A server with its price and its rate.
struct Priced<'a> {
    server: &'a str,
    index: usize,
    total: Money,
    rate: f64,
    per_headline: Option<UnitPrice>,
}

/// Returns the figure; `None` unless at least two servers have different prices in the same currency and a valid rate.
pub(super) fn figure(entries: &[Entry], terms: Terms) -> Option<Figure> {
    let priced: Vec<Priced> = entries.iter().filter_map(priced).collect();
    let currency = priced.first()?.total.currency;
    let is_one_currency = priced.iter().all(|one| one.total.currency == currency);
    let differ = priced.iter().any(|one| one.total != priced[0].total);
    if !is_one_currency || !differ {
        return None;
    }
    let caption = "Higher is faster, further left is cheaper. Dashed lines: equal price per unit of the rate; steeper is cheaper.";
    Some(Figure {
        chart: chart(&priced, currency, terms),
        caption: caption.into(),
        table: table(&priced, currency, terms),
        bulky: false,
    })
}

fn priced<'a>(entry: &Entry<'a>) -> Option<Priced<'a>> {
    let sheet = entry.run.report.price?;
    let prices = price_performance(&sheet.list, entry.run.report.analysis);
    let rate = entry.score?;
    let server = entry.server;
    let index = entry.index;
    let total = prices.total;
    Some(Priced { server, index, total, rate, per_headline: total.per(rate) })
}

fn chart(priced: &[Priced], currency: Currency, terms: Terms) -> Chart {
    let server = |one: &Priced| DataSeries {
        name: one.server.to_owned(),
        style: one.index,
        draw: Draw::Points,
        points: vec![Point::new(one.total.as_f64(), one.rate)],
    };
    let (lines, marks) = lines(priced, currency);
    let series = priced.iter().map(server).chain(lines).collect();
    Chart {
        id: "price-chart",
        title: format!("Price against {}", terms.score),
        description: "Total price and highest valid rate of each server.".into(),
        x: Axis::new(format!("Total price ({currency})"), Spacing::FromZero, Format::Plain),
        panels: vec![Panel {
            y: Axis::new(terms.score_heading, Spacing::FromZero, Format::Plain),
            series,
            limit: None,
        }],
        zones: Vec::new(),
        marks,
    }
}

/// Returns the lines of equal unit price, at round prices around those of the servers. Lines that end at the top of the
/// chart are labelled there with marks.
fn lines(priced: &[Priced], currency: Currency) -> (Vec<DataSeries>, Vec<Mark>) {
    let mut x_max = 0.0_f64;
    let mut y_max = 0.0_f64;
    for one in priced {
        (x_max, y_max) = (x_max.max(one.total.as_f64()), y_max.max(one.rate));
    }
    let x_max = ROOM * x_max;
    let y_max = ROOM * y_max;
    let mut lines = Vec::new();
    let mut marks = Vec::new();
    for price in round_prices(priced) {
        let mut name = format!("{} each", numbers::unit_price(UnitPrice { value: price, currency }));
        let x = x_max.min(price * y_max);
        if x < x_max {
            marks.push(Mark { x, name: std::mem::take(&mut name), line: false });
        }
        let points = vec![Point::new(0.0, 0.0), Point::new(x, x / price)];
        lines.push(DataSeries { name, style: 4, draw: Draw::Line, points });
    }
    (lines, marks)
}

/// Returns 1, 2 and 5 times powers of ten, from below the lowest to above the highest unit price.
fn round_prices(priced: &[Priced]) -> Vec<f64> {
    let prices: Vec<f64> = priced.iter().map(|one| one.total.as_f64() / one.rate).collect();
    let least = prices.iter().copied().fold(f64::INFINITY, f64::min);
    let most = prices.iter().copied().fold(0.0, f64::max);
    if !(least.is_finite() && 0.0 < least) {
        return Vec::new();
    }
    let powers = least.log10().floor() as i32 - 1..=most.log10().ceil() as i32;
    let all: Vec<f64> =
        powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))).collect();
    let first = all.iter().rposition(|price| *price <= least).unwrap_or(0);
    let last = all.iter().position(|price| most <= *price).unwrap_or(all.len() - 1);
    all[first..=last.max(first)].iter().copied().take(LINES_MAX).collect()
}

fn table(priced: &[Priced], currency: Currency, terms: Terms) -> Table {
    let columns = vec![
        Column::words("Server"),
        Column::numbers(format!("Total price ({currency})"), ""),
        Column::numbers(terms.score_heading, ""),
        Column::numbers(format!("Price ÷ rate ({currency})"), ""),
    ];
    let row = |one: &Priced| {
        let per =
            one.per_headline.map_or(numbers::ABSENT.to_owned(), |price| numbers::group(&price.digits()));
        Row::plain([
            Cell::from(one.server),
            numbers::group(&one.total.digits()).into(),
            numbers::figure(one.rate).into(),
            per.into(),
        ])
    };
    Table::new("Price and performance", columns, priced.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priced(prices: &[(i64, f64)]) -> Vec<Priced<'static>> {
        let currency = Currency::parse("USD").unwrap();
        let one = |(cents, rate): &(i64, f64)| {
            let total = Money { minor: *cents, currency };
            Priced { server: "s", index: 0, total, rate: *rate, per_headline: total.per(*rate) }
        };
        prices.iter().map(one).collect()
    }

    /// By hand: the systems of 1997 for 29,581.00 and 19,454.00 dollars with rates of 2,917 and 2,356 cost 10.14 and 8.26
    /// per unit: lines at 5, 10 and 20. Those at 5 and 10 end at the top, 1.15 · 2,917 = 3,354.55, where x is 16,772.75
    /// and 33,545.50.
    #[test]
    fn lines_of_equal_price_enclose_the_servers() {
        let priced = priced(&[(2_958_100, 2_917.0), (1_945_400, 2_356.0)]);
        assert_eq!(round_prices(&priced), [5.0, 10.0, 20.0]);
        let (lines, marks) = lines(&priced, priced[0].total.currency);
        let end = lines[0].points[1];
        assert!((end.x - 16_772.75).abs() < 1e-6 && (end.y - 3_354.55).abs() < 1e-6, "{end:?}");
        let end = lines[2].points[1];
        assert!((end.x - 34_018.15).abs() < 1e-6 && (end.y - end.x / 20.0).abs() < 1e-9, "{end:?}");
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["", "", "20.00 USD each"]);
        let above: Vec<(f64, &str)> = marks.iter().map(|mark| (mark.x.round(), mark.name.as_str())).collect();
        assert_eq!(above, [(16_773.0, "5.00 USD each"), (33_546.0, "10.00 USD each")]);
    }

    #[test]
    fn free_servers_and_servers_without_rate_have_no_lines() {
        assert!(round_prices(&priced(&[(0, 100.0)])).is_empty());
        assert!(round_prices(&priced(&[(100, 0.0)])).is_empty());
    }
}
