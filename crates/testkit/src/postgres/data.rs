//! The data that the stub keeps, and its answers to queries about them.

use orders::{DataScale, OrderTable, OrderTotals};

/// The description of the data, and the number of orders placed since they were loaded.
#[derive(Debug, Default)]
pub(super) struct StubData {
    has_schema: bool,
    facts: Vec<(String, i64)>,
    pub(super) n_placed: u64,
}

/// The rows of an answer, whose values are texts.
pub(super) type TextRows = Vec<Vec<String>>;

impl StubData {
    /// Returns the size of the data; `None` before they have been loaded.
    pub(super) fn scale(&self) -> Option<DataScale> {
        let size = |name: &str| {
            let (_, value) = self.facts.iter().find(|(one, _)| one == name)?;
            u32::try_from(*value).ok()
        };
        DataScale::new(size("warehouses")?, size("divisor")?).ok()
    }

    /// Executes a statement that has no rows.
    pub(super) fn execute(&mut self, sql: &str) {
        if sql.starts_with("CREATE SCHEMA") {
            self.has_schema = true;
        } else if sql.starts_with("DROP SCHEMA") {
            *self = StubData::default();
        } else if sql.starts_with("INSERT INTO plimsoll_orderentry.metadata") {
            self.facts.extend(facts_in(sql));
        }
    }

    /// Returns the rows of a query; `None` of one that is not known.
    pub(super) fn rows(&self, sql: &str) -> Option<TextRows> {
        let one =
            |values: &[&str]| -> TextRows { vec![values.iter().map(|value| (*value).to_owned()).collect()] };
        if sql == OrderTotals::SQL {
            return Some(vec![self.totals()?.map(|number| number.to_string()).to_vec()]);
        }
        if sql.starts_with("SELECT name, value FROM plimsoll_orderentry.metadata") {
            let row = |(name, value): &(String, i64)| vec![name.clone(), value.to_string()];
            return Some(self.facts.iter().map(row).collect());
        }
        // A part of each query, and its rows.
        let known: [(&str, TextRows); 6] = [
            ("SELECT COUNT(*) FROM (", one(&["0"])),
            ("FROM pg_namespace", if self.has_schema { one(&["1"]) } else { Vec::new() }),
            ("plimsoll_orderentry.metadata", if self.facts.is_empty() { Vec::new() } else { one(&["1"]) }),
            ("'max_connections'", one(&["1000000", "0", "0"])),
            ("has_database_privilege", one(&["1"])),
            ("'server_version'", one(&["no data", "15 (a stub)"])),
        ];
        known.into_iter().find(|(part, _)| sql.contains(part)).map(|(_, rows)| rows)
    }

    /// Returns orders, new orders, and the sum of the next orders. None is ever delivered.
    fn totals(&self) -> Option<[u64; 3]> {
        let scale = self.scale()?;
        let orders = scale.rows(OrderTable::Orders) + self.n_placed;
        let new_orders = scale.rows(OrderTable::NewOrder) + self.n_placed;
        Some([orders, new_orders, orders + scale.rows(OrderTable::District)])
    }
}

/// Returns the pairs of a name and a number among the values of an `INSERT`.
fn facts_in(sql: &str) -> impl Iterator<Item = (String, i64)> {
    sql.split("('").skip(1).filter_map(|part| {
        let (name, rest) = part.split_once("', ")?;
        let (number, _) = rest.split_once(')')?;
        Some((name.to_owned(), number.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded() -> StubData {
        let mut data = StubData::default();
        data.execute("CREATE SCHEMA plimsoll_orderentry");
        data.execute("INSERT INTO plimsoll_orderentry.metadata VALUES ('format', 1)");
        data.execute(
            "INSERT INTO plimsoll_orderentry.metadata VALUES ('warehouses', 2), ('divisor', 100), ('c_load', -3)",
        );
        data
    }

    /// Two warehouses with divisor 100: 600 orders, 180 of them new, 20 districts whose next order is their 31st. Then 5
    /// are placed.
    #[test]
    fn totals_follow_from_the_size_and_the_orders_placed() {
        let data = StubData { n_placed: 5, ..loaded() };
        assert_eq!(data.rows(OrderTotals::SQL), Some(vec![vec!["605".into(), "185".into(), "625".into()]]));
        assert_eq!(StubData::default().rows(OrderTotals::SQL), None);
    }

    #[test]
    fn metadata_are_kept_until_the_schema_is_dropped() {
        let mut data = loaded();
        let rows = data.rows("SELECT name, value FROM plimsoll_orderentry.metadata").unwrap();
        assert_eq!(rows[3], ["c_load", "-3"]);
        let has_schema =
            |data: &StubData| data.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'x'").unwrap().len();
        assert_eq!(has_schema(&data), 1);
        data.execute("DROP SCHEMA plimsoll_orderentry CASCADE");
        assert_eq!(has_schema(&data), 0);
        assert_eq!(data.rows("SELECT 1"), None);
    }
}
