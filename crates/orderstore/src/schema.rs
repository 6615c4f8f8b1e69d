//! The statements that make the tables and indexes, and that insert rows.

use orders::{ColumnType, OrderTable, TableColumn, TableSchema};

/// Rows longer than this are kept apart from their primary key: SQLite's advice, a twentieth of a page of 4 KiB.
const CLUSTERED_BYTES_MAX: u64 = 204;

/// The table that tells what the file is, and from which the rows can be made again.
pub(crate) const METADATA: &str =
    "CREATE TABLE plimsoll_orderentry (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID";

/// Returns the name under which the metadata keep the number of rows of a table that were loaded.
pub(crate) fn rows_fact(table: OrderTable) -> String {
    format!("rows of {}", table.schema().name)
}

/// Returns the statement that makes a table.
pub(crate) fn create_table(table: OrderTable) -> String {
    let schema = table.schema();
    let mut parts: Vec<String> = schema.columns.iter().map(column).collect();
    if !schema.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", schema.primary_key.join(", ")));
    }
    let clustered = if is_clustered(schema) { ", WITHOUT ROWID" } else { "" };
    format!("CREATE TABLE {} ({}) STRICT{clustered}", schema.name, parts.join(", "))
}

/// Returns the statements that make the further indexes of a table.
pub(crate) fn create_indexes(table: OrderTable) -> impl Iterator<Item = String> {
    let schema = table.schema();
    let statement = |name: &str, columns: &[&str]| {
        format!("CREATE INDEX {name} ON {} ({})", schema.name, columns.join(", "))
    };
    schema.indexes.iter().map(move |index| statement(index.name, index.columns))
}

/// Returns the statement that inserts a row, with a parameter for each column in turn.
pub(crate) fn insert(table: OrderTable) -> String {
    let schema = table.schema();
    format!("INSERT INTO {} VALUES ({})", schema.name, vec!["?"; schema.columns.len()].join(", "))
}

fn column(column: &TableColumn) -> String {
    let kind = match column.kind {
        ColumnType::VariableText(_) | ColumnType::FixedText(_) => "TEXT",
        ColumnType::Key | ColumnType::Count | ColumnType::Money | ColumnType::Rate | ColumnType::Time => {
            "INTEGER"
        }
    };
    let not_null = if column.is_nullable { "" } else { " NOT NULL" };
    format!("{} {kind}{not_null}", column.name)
}

/// Returns whether rows are stored in the order of their primary key. A key of one column is the row's number anyway.
fn is_clustered(schema: &TableSchema) -> bool {
    1 < schema.primary_key.len() && schema.row_bytes <= CLUSTERED_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_follow_the_schema() {
        assert_eq!(
            create_table(OrderTable::NewOrder),
            "CREATE TABLE new_order (no_w_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_o_id INTEGER NOT NULL, \
             PRIMARY KEY (no_w_id, no_d_id, no_o_id)) STRICT, WITHOUT ROWID"
        );
        assert!(create_table(OrderTable::Orders).contains("o_carrier_id INTEGER, "));
        assert!(create_table(OrderTable::Item).ends_with("PRIMARY KEY (i_id)) STRICT"));
        assert!(create_table(OrderTable::History).ends_with("h_data TEXT NOT NULL) STRICT"));
        assert_eq!(
            create_indexes(OrderTable::Orders).collect::<Vec<_>>(),
            ["CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)"]
        );
        assert_eq!(insert(OrderTable::NewOrder), "INSERT INTO new_order VALUES (?, ?, ?)");
    }
}
