//! JSON of prices; amounts in whole units of the currency.

use analysis::price::price_performance;
use languages::NamedValues;
use model::{Discount, Maintenance, Price, PriceItem};
use serde_json::{Map, Value, json};
use units::UnitPrice;

use super::json::state;
use crate::Report;

/// Returns the price list with its sums and what they come to; `null` without one.
pub(super) fn price(report: &Report) -> Value {
    let Some(sheet) = report.price else { return Value::Null };
    let list = &sheet.list;
    let prices = price_performance(list, report.analysis);
    let subtotals: Map<String, Value> =
        list.subtotals().iter().map(|(kind, sum)| (kind.name().to_owned(), sum.as_f64().into())).collect();
    let points = report.analysis.load_points.iter().zip(&prices.load_points);
    let points = points.map(|(point, price)| {
        json!({
            "index": point.index,
            "per_user": value(price.per_user),
            "per_score": value(price.per_score),
            "per_operation_per_s": value(price.per_rate),
            "per_million_operations": value(price.per_million),
        })
    });
    json!({
        "title": list.title,
        "file": sheet.file,
        "blake3": sheet.blake3,
        "currency": list.currency.code(),
        "date": list.date,
        "available": list.available,
        "items": list.items().iter().map(item).collect::<Vec<_>>(),
        "subtotals": subtotals,
        "total": prices.total.as_f64(),
        "per_headline": value(prices.per_headline),
        "verdict": state(report.analysis.verdict.state),
        "load_points": points.collect::<Vec<_>>(),
    })
}

fn value(price: Option<UnitPrice>) -> Option<f64> {
    price.map(|price| price.value)
}

fn item(item: &PriceItem) -> Value {
    let (unit_price, per_hour) = match item.price {
        Price::Once(price) => (Some(price.as_f64()), None),
        Price::PerHour { price, term } => {
            let term = json!({ "number": term.number.as_f64(), "unit": term.unit.name() });
            (None, Some(json!({ "price": price.as_f64(), "term": term })))
        }
    };
    json!({
        "name": item.name,
        "kind": item.kind.name(),
        "quantity": item.quantity,
        "unit_price": unit_price,
        "per_hour": per_hour,
        "discount": discount(item.discount.as_ref()),
        "amount": item.amount.as_f64(),
        "maintenance": item.maintenance.as_ref().map(maintenance),
        "source": item.source,
        "date": item.date,
    })
}

fn maintenance(maintenance: &Maintenance) -> Value {
    json!({
        "per_year": maintenance.per_year.as_f64(),
        "years": maintenance.years.as_f64(),
        "discount": discount(maintenance.discount.as_ref()),
        "amount": maintenance.amount.as_f64(),
    })
}

fn discount(discount: Option<&Discount>) -> Option<Value> {
    discount.map(|discount| json!({ "ratio": discount.ratio.as_f64(), "reason": discount.reason }))
}
