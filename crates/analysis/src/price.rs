//! Price/performance of a priced configuration.
//!
//! Source: NotesBench (price ÷ users, price ÷ NotesMark) and TPC-C (price of three years ÷ throughput).

use model::PriceList;
use units::{Money, UnitPrice};

use crate::{Analysis, LoadPointResult};

/// The number of operations that cloud prices are given for.
const MANY: f64 = 1e6;

const SECONDS_PER_HOUR: f64 = 3600.0;

/// Price/performance of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PricePerformance {
    /// The sum of the list.
    pub total: Money,
    /// Total ÷ headline; `None` without a headline.
    pub per_headline: Option<UnitPrice>,
    /// The prices in the order of the analysis.
    pub load_points: Vec<PointPrice>,
}

/// Price/performance of one load point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointPrice {
    /// Total ÷ users; `None` in an open loop.
    pub per_user: Option<UnitPrice>,
    /// Total ÷ score; `None` without one.
    pub per_score: Option<UnitPrice>,
    /// Total ÷ successful operations per second; `None` if there were none.
    pub per_rate: Option<UnitPrice>,
    /// 10⁶ · p / (3600 · X) with p the price of an hour of the whole list and X successful operations per second: the
    /// price of a million of them at this rate. `None` where anything is bought, and if there were no operations.
    pub per_million: Option<UnitPrice>,
}

/// Divides the prices of a list by the results of an analysis.
pub fn price_performance(list: &PriceList, analysis: &Analysis) -> PricePerformance {
    let total = list.total();
    let headline = analysis.headline.as_ref();
    PricePerformance {
        total,
        per_headline: headline.and_then(|headline| total.per(headline.value)),
        load_points: analysis.load_points.iter().map(|point| point_price(list, total, point)).collect(),
    }
}

fn point_price(list: &PriceList, total: Money, point: &LoadPointResult) -> PointPrice {
    PointPrice {
        per_user: point.load.is_closed().then(|| total.per(point.load.level())).flatten(),
        per_score: point.score.and_then(|score| total.per(score)),
        per_rate: total.per(point.rate),
        per_million: per_million(list, point.rate),
    }
}

/// Returns the price of a million operations at `rate` per second, if everything is paid by the hour.
fn per_million(list: &PriceList, rate: f64) -> Option<UnitPrice> {
    let value = MANY * list.per_hour()?.as_f64() / (SECONDS_PER_HOUR * rate);
    (0.0 < rate && value.is_finite()).then_some(UnitPrice { value, currency: list.currency })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(item: &str) -> PriceList {
        let head = "format = 1\ntitle = \"t\"\ncurrency = \"USD\"\ndate = 1998-05-01\nsource = \"s\"\n";
        let text = format!("{head}[[item]]\nname = \"system\"\nquantity = 2\n{item}\n");
        PriceList::parse("prices.toml", &text).unwrap()
    }

    /// Two machines at 0.0725 an hour that answer 1,000 requests per second: 0.145 ÷ 3.6 for each million.
    #[test]
    fn a_million_operations_cost_what_the_machines_cost_meanwhile() {
        let hourly = list("kind = \"cloud\"\nper-hour = 0.0725\nyears = 3");
        assert_eq!(per_million(&hourly, 1_000.0).unwrap().to_string(), "0.0403 USD");
        for rate in [0.0, f64::NAN] {
            assert_eq!(per_million(&hourly, rate), None);
        }
    }

    #[test]
    fn what_is_bought_has_no_price_by_the_hour() {
        assert_eq!(per_million(&list("kind = \"hardware\"\nunit-price = 14790.50"), 1_000.0), None);
    }

    /// The system of the NotesBench report that cost 29,581 dollars, at its 2,200 users and 2,917 operations a minute.
    #[test]
    fn a_load_point_is_priced_by_its_users_and_its_rate() {
        let list = list("kind = \"hardware\"\nunit-price = 14790.50");
        let total = list.total();
        let rate = 2_917.0 / 60.0;
        let prices = [total.per(2_200.0), total.per(2_917.0), total.per(rate)];
        assert_eq!(prices.map(|price| price.unwrap().to_string()), ["13.45 USD", "10.14 USD", "608.45 USD"]);
    }
}
