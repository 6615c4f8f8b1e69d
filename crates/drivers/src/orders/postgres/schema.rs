//! The tables as PostgreSQL has them, in a schema of our own with a table that tells what its data are.
//!
//! Amounts are whole cents, rates ten-thousandths, and times `timestamptz`.

use orders::{ColumnType, OrderTable, Population, TableColumn};

/// The schema. What is in it is ours, and nothing else is touched.
pub const POSTGRES_SCHEMA: &str = "plimsoll_orderentry";

/// The version of tables, procedures, and of the rows that are made from a seed.
pub(super) const FORMAT: i64 = 1;

/// The statements that make the stored procedures.
pub(super) const PROCEDURES: &str = include_str!("procedures.sql");

/// The table that tells what the data are.
pub(super) const METADATA: &str = "CREATE TABLE metadata (name text PRIMARY KEY, value bigint NOT NULL)";

// Names of facts in the metadata.
/// The version, written first: a schema that has it is ours.
pub(super) const FORMAT_FACT: &str = "format";
/// 1, written last: a schema without it was not loaded to the end.
pub(super) const COMPLETE_FACT: &str = "complete";

/// Returns the facts of a population, by name.
pub(super) fn facts(population: &Population) -> [(&'static str, i64); 5] {
    let scale = population.scale();
    [
        ("seed", population.seed().cast_signed()),
        ("warehouses", i64::from(scale.warehouses())),
        ("divisor", i64::from(scale.divisor())),
        ("c_load", i64::from(population.c_load())),
        ("loaded_at", population.loaded_at().0),
    ]
}

/// Returns the name of the fact that is the number of rows of a table when it was loaded.
pub(super) fn rows_fact(table: OrderTable) -> String {
    format!("rows of {}", table.schema().name)
}

/// Returns what the data of a population are told by, as far as they are the same whenever they are loaded: a text for
/// the names of copies.
pub fn contents_of(population: &Population) -> String {
    let [seed, warehouses, divisor, c_load, _] =
        facts(population).map(|(name, value)| format!("{name} {value}"));
    format!("order entry: format {FORMAT}, {seed}, {warehouses}, {divisor}, {c_load}")
}

/// Returns the statement that makes a table, without keys.
pub(super) fn create_table(table: OrderTable) -> String {
    let schema = table.schema();
    let columns: Vec<String> = schema.columns.iter().map(column).collect();
    format!("CREATE TABLE {} ({})", schema.name, columns.join(", "))
}

/// Returns the statements that make the primary key and the indexes of a table.
pub(super) fn create_indexes(table: OrderTable) -> Vec<String> {
    let schema = table.schema();
    let key = (!schema.primary_key.is_empty())
        .then(|| format!("ALTER TABLE {} ADD PRIMARY KEY ({})", schema.name, schema.primary_key.join(", ")));
    let indexes = schema.indexes.iter().map(|index| {
        format!("CREATE INDEX {} ON {} ({})", index.name, schema.name, index.columns.join(", "))
    });
    key.into_iter().chain(indexes).collect()
}

fn column(column: &TableColumn) -> String {
    let kind = match column.kind {
        ColumnType::Key | ColumnType::Rate => "integer".to_owned(),
        ColumnType::Count | ColumnType::Money => "bigint".to_owned(),
        ColumnType::Time => "timestamptz".to_owned(),
        ColumnType::VariableText(length) => format!("varchar({length})"),
        ColumnType::FixedText(length) => format!("char({length})"),
    };
    let not_null = if column.is_nullable { "" } else { " NOT NULL" };
    format!("{} {kind}{not_null}", column.name)
}

#[cfg(test)]
mod tests {
    use orders::DataScale;
    use units::WallTime;

    use super::*;

    #[test]
    fn statements_follow_the_schema() {
        assert_eq!(
            create_table(OrderTable::NewOrder),
            "CREATE TABLE new_order (no_w_id integer NOT NULL, no_d_id integer NOT NULL, no_o_id integer NOT NULL)"
        );
        let orders = create_table(OrderTable::Orders);
        assert!(
            orders.contains("o_entry_d timestamptz NOT NULL, o_carrier_id integer, o_ol_cnt bigint NOT NULL")
        );
        assert_eq!(
            create_indexes(OrderTable::Orders),
            [
                "ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id)",
                "CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)"
            ]
        );
        assert!(create_indexes(OrderTable::History).is_empty());
    }

    /// Whenever they are loaded.
    #[test]
    fn contents_are_told_by_seed_and_size() {
        let contents = |seed, warehouses, at| {
            contents_of(&Population::new(seed, DataScale::new(warehouses, 100).unwrap(), WallTime(at)))
        };
        assert_eq!(contents(1, 2, 5), contents(1, 2, 6));
        assert!(
            contents(1, 2, 5)
                .starts_with("order entry: format 1, seed 1, warehouses 2, divisor 100, c_load ")
        );
        assert!(contents(1, 2, 5) != contents(2, 2, 5) && contents(1, 2, 5) != contents(1, 3, 5));
    }
}
