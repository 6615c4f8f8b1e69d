//! The tables, in a schema of our own with a table that tells what its data are.
//!
//! Amounts are whole cents, rates ten-thousandths.

use orders::{ColumnType, OrderTable, Population, TableColumn};

/// The schema, or the database of databases without schemas. What is in it is ours, and nothing else is touched.
pub const ORDER_SCHEMA: &str = "plimsoll_orderentry";

/// The version of tables, procedures, and of the rows that are made from a seed.
pub(crate) const FORMAT: i64 = 1;

/// The table that tells what the data are.
pub(crate) const METADATA: &str =
    "CREATE TABLE metadata (name varchar(64) PRIMARY KEY, value bigint NOT NULL)";

// Names of facts in the metadata.
/// The version, written first: a schema that has it is ours.
pub(crate) const FORMAT_FACT: &str = "format";
/// 1, written last: a schema without it was not loaded to the end.
pub(crate) const COMPLETE_FACT: &str = "complete";

/// Returns the facts of a population, by name.
pub(crate) fn facts(population: &Population) -> [(&'static str, i64); 5] {
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
pub(crate) fn rows_fact(table: OrderTable) -> String {
    format!("rows of {}", table.schema().name)
}

/// Returns what the data of a population are told by, as far as they are the same whenever they are loaded: a text for
/// the names of copies.
pub fn contents_of(population: &Population) -> String {
    let [seed, warehouses, divisor, c_load, _] =
        facts(population).map(|(name, value)| format!("{name} {value}"));
    format!("order entry: format {FORMAT}, {seed}, {warehouses}, {divisor}, {c_load}")
}

/// The names that a product has for types.
#[derive(Debug)]
pub(crate) struct TypeNames {
    /// Numbers of 32 and of 64 bits.
    pub(crate) small: &'static str,
    pub(crate) large: &'static str,
    /// Points in time.
    pub(crate) time: &'static str,
}

impl TypeNames {
    /// Writes a column.
    fn column(&self, column: &TableColumn) -> String {
        let kind = match column.kind {
            ColumnType::Key | ColumnType::Rate => self.small.to_owned(),
            ColumnType::Count | ColumnType::Money => self.large.to_owned(),
            ColumnType::Time => self.time.to_owned(),
            ColumnType::VariableText(length) => format!("varchar({length})"),
            ColumnType::FixedText(length) => format!("char({length})"),
        };
        let not_null = if column.is_nullable { "" } else { " NOT NULL" };
        format!("{} {kind}{not_null}", column.name)
    }
}

/// Returns the statement that makes a table; `rest` is what follows the columns.
pub(crate) fn create_table(table: OrderTable, types: &TypeNames, rest: &str) -> String {
    let schema = table.schema();
    let columns: Vec<String> = schema.columns.iter().map(|column| types.column(column)).collect();
    format!("CREATE TABLE {} ({}{rest})", schema.name, columns.join(", "))
}

/// Returns the statements that make the indexes of a table beside the primary key.
pub(crate) fn create_indexes(table: OrderTable) -> Vec<String> {
    let schema = table.schema();
    let index = |index: &orders::IndexSchema| {
        format!("CREATE INDEX {} ON {} ({})", index.name, schema.name, index.columns.join(", "))
    };
    schema.indexes.iter().map(index).collect()
}

/// Returns a text as a literal of SQL.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use orders::DataScale;
    use units::WallTime;

    use super::*;

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
