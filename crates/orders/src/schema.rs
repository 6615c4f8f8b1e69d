//! The nine tables and their indexes, as data from which each database's statements are made.
//!
//! Source: TPC-C revision 5.11, clauses 1.2.1 and 1.3; the two further indexes are those that all known implementations
//! have. Differences: foreign keys are not declared, and counters are wide enough for long runs without pauses.

use ColumnType::{Count, FixedText, Key, Money, Rate, Time, VariableText};

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderTable {
    /// Warehouses, which own districts and stock.
    Warehouse,
    /// The ten districts of each warehouse, which own customers and orders.
    District,
    /// Customers of districts.
    Customer,
    /// Payments.
    History,
    /// Orders that are not delivered yet.
    NewOrder,
    /// Orders.
    Orders,
    /// Lines of orders.
    OrderLine,
    /// Items, of which each warehouse has a stock.
    Item,
    /// Stocks of warehouses.
    Stock,
}

/// The columns, primary key and indexes of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSchema {
    /// The name.
    pub name: &'static str,
    /// The columns.
    pub columns: &'static [TableColumn],
    /// Names of the columns of the primary key; empty if the table has none.
    pub primary_key: &'static [&'static str],
    /// Further indexes.
    pub indexes: &'static [IndexSchema],
    /// Typical length of a row, in bytes.
    pub row_bytes: u64,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableColumn {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub kind: ColumnType,
    /// Whether the column can be null.
    pub is_nullable: bool,
}

/// A type of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// A number that identifies a row: 32 bits, positive.
    Key,
    /// A number that counts: 64 bits, signed.
    Count,
    /// An exact amount with two decimals and at most 14 digits, or a whole number of cents.
    Money,
    /// A rate with four decimals, or a whole number of ten-thousandths.
    Rate,
    /// A point in time, with milliseconds or better.
    Time,
    /// A text of at most so many characters.
    VariableText(u16),
    /// A text of exactly so many characters.
    FixedText(u16),
}

/// An index beside the primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSchema {
    /// The name.
    pub name: &'static str,
    /// Names of its columns.
    pub columns: &'static [&'static str],
}

impl OrderTable {
    /// All tables.
    pub const ALL: [OrderTable; 9] = [
        OrderTable::Warehouse,
        OrderTable::District,
        OrderTable::Customer,
        OrderTable::History,
        OrderTable::NewOrder,
        OrderTable::Orders,
        OrderTable::OrderLine,
        OrderTable::Item,
        OrderTable::Stock,
    ];

    /// Returns the schema.
    pub fn schema(self) -> &'static TableSchema {
        match self {
            OrderTable::Warehouse => &WAREHOUSE,
            OrderTable::District => &DISTRICT,
            OrderTable::Customer => &CUSTOMER,
            OrderTable::History => &HISTORY,
            OrderTable::NewOrder => &NEW_ORDER,
            OrderTable::Orders => &ORDERS,
            OrderTable::OrderLine => &ORDER_LINE,
            OrderTable::Item => &ITEM,
            OrderTable::Stock => &STOCK,
        }
    }
}

const fn column(name: &'static str, kind: ColumnType) -> TableColumn {
    TableColumn { name, kind, is_nullable: false }
}

const fn nullable(name: &'static str, kind: ColumnType) -> TableColumn {
    TableColumn { name, kind, is_nullable: true }
}

const WAREHOUSE: TableSchema = TableSchema {
    name: "warehouse",
    columns: &[
        column("w_id", Key),
        column("w_name", VariableText(10)),
        column("w_street_1", VariableText(20)),
        column("w_street_2", VariableText(20)),
        column("w_city", VariableText(20)),
        column("w_state", FixedText(2)),
        column("w_zip", FixedText(9)),
        column("w_tax", Rate),
        column("w_ytd", Money),
    ],
    primary_key: &["w_id"],
    indexes: &[],
    row_bytes: 89,
};

const DISTRICT: TableSchema = TableSchema {
    name: "district",
    columns: &[
        column("d_w_id", Key),
        column("d_id", Key),
        column("d_name", VariableText(10)),
        column("d_street_1", VariableText(20)),
        column("d_street_2", VariableText(20)),
        column("d_city", VariableText(20)),
        column("d_state", FixedText(2)),
        column("d_zip", FixedText(9)),
        column("d_tax", Rate),
        column("d_ytd", Money),
        column("d_next_o_id", Key),
    ],
    primary_key: &["d_w_id", "d_id"],
    indexes: &[],
    row_bytes: 95,
};

const CUSTOMER: TableSchema = TableSchema {
    name: "customer",
    columns: &[
        column("c_w_id", Key),
        column("c_d_id", Key),
        column("c_id", Key),
        column("c_first", VariableText(16)),
        column("c_middle", FixedText(2)),
        column("c_last", VariableText(16)),
        column("c_street_1", VariableText(20)),
        column("c_street_2", VariableText(20)),
        column("c_city", VariableText(20)),
        column("c_state", FixedText(2)),
        column("c_zip", FixedText(9)),
        column("c_phone", FixedText(16)),
        column("c_since", Time),
        column("c_credit", FixedText(2)),
        column("c_credit_lim", Money),
        column("c_discount", Rate),
        column("c_balance", Money),
        column("c_ytd_payment", Money),
        column("c_payment_cnt", Count),
        column("c_delivery_cnt", Count),
        column("c_data", VariableText(500)),
    ],
    primary_key: &["c_w_id", "c_d_id", "c_id"],
    indexes: &[IndexSchema {
        name: "customer_by_name",
        columns: &["c_w_id", "c_d_id", "c_last", "c_first", "c_id"],
    }],
    row_bytes: 655,
};

const HISTORY: TableSchema = TableSchema {
    name: "history",
    columns: &[
        column("h_c_w_id", Key),
        column("h_c_d_id", Key),
        column("h_c_id", Key),
        column("h_w_id", Key),
        column("h_d_id", Key),
        column("h_date", Time),
        column("h_amount", Money),
        column("h_data", VariableText(24)),
    ],
    primary_key: &[],
    indexes: &[],
    row_bytes: 46,
};

const NEW_ORDER: TableSchema = TableSchema {
    name: "new_order",
    columns: &[column("no_w_id", Key), column("no_d_id", Key), column("no_o_id", Key)],
    primary_key: &["no_w_id", "no_d_id", "no_o_id"],
    indexes: &[],
    row_bytes: 8,
};

const ORDERS: TableSchema = TableSchema {
    name: "orders",
    columns: &[
        column("o_w_id", Key),
        column("o_d_id", Key),
        column("o_id", Key),
        column("o_c_id", Key),
        column("o_entry_d", Time),
        nullable("o_carrier_id", Key),
        column("o_ol_cnt", Count),
        column("o_all_local", Count),
    ],
    primary_key: &["o_w_id", "o_d_id", "o_id"],
    indexes: &[IndexSchema { name: "orders_by_customer", columns: &["o_w_id", "o_d_id", "o_c_id", "o_id"] }],
    row_bytes: 24,
};

const ORDER_LINE: TableSchema = TableSchema {
    name: "order_line",
    columns: &[
        column("ol_w_id", Key),
        column("ol_d_id", Key),
        column("ol_o_id", Key),
        column("ol_number", Key),
        column("ol_i_id", Key),
        column("ol_supply_w_id", Key),
        nullable("ol_delivery_d", Time),
        column("ol_quantity", Count),
        column("ol_amount", Money),
        column("ol_dist_info", FixedText(24)),
    ],
    primary_key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
    indexes: &[],
    row_bytes: 54,
};

const ITEM: TableSchema = TableSchema {
    name: "item",
    columns: &[
        column("i_id", Key),
        column("i_im_id", Key),
        column("i_name", VariableText(24)),
        column("i_price", Money),
        column("i_data", VariableText(50)),
    ],
    primary_key: &["i_id"],
    indexes: &[],
    row_bytes: 82,
};

const STOCK: TableSchema = TableSchema {
    name: "stock",
    columns: &[
        column("s_w_id", Key),
        column("s_i_id", Key),
        column("s_quantity", Count),
        column("s_dist_01", FixedText(24)),
        column("s_dist_02", FixedText(24)),
        column("s_dist_03", FixedText(24)),
        column("s_dist_04", FixedText(24)),
        column("s_dist_05", FixedText(24)),
        column("s_dist_06", FixedText(24)),
        column("s_dist_07", FixedText(24)),
        column("s_dist_08", FixedText(24)),
        column("s_dist_09", FixedText(24)),
        column("s_dist_10", FixedText(24)),
        column("s_ytd", Count),
        column("s_order_cnt", Count),
        column("s_remote_cnt", Count),
        column("s_data", VariableText(50)),
    ],
    primary_key: &["s_w_id", "s_i_id"],
    indexes: &[],
    row_bytes: 306,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_indexes_name_columns_that_are_never_null() {
        for table in OrderTable::ALL {
            let schema = table.schema();
            let has = |name: &&str| schema.columns.iter().any(|one| one.name == *name && !one.is_nullable);
            let indexed = schema.indexes.iter().flat_map(|index| index.columns);
            assert!(schema.primary_key.iter().chain(indexed).all(has), "{}", schema.name);
        }
    }

    /// The numbers of columns in clause 1.3.
    #[test]
    fn tables_have_all_columns_with_names_of_their_own() {
        let numbers = OrderTable::ALL.map(|table| table.schema().columns.len());
        assert_eq!(numbers, [9, 11, 21, 8, 3, 8, 10, 5, 17]);
        let mut names: Vec<&str> =
            OrderTable::ALL.iter().flat_map(|table| table.schema().columns).map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 92);
    }
}
