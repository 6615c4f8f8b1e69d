//! The order-entry workload: a wholesale supplier with warehouses, each with ten districts, whose terminals enter orders
//! and payments, ask for the status of orders and the level of stock, and have orders delivered.
//!
//! Derived from the TPC-C specification, revision 5.11, of which it follows a subset; its results are not TPC-C results
//! and not comparable with published ones. Differences: cardinalities can be divided ([`DataScale`]), foreign keys are not
//! declared, and users can do without keying and think times ([`Pacing`]).
//!
//! - `random`: NURand, texts, names, permutations; `run_constants`: the constants of NURand
//! - `amount`: money and rates, exact
//! - `scale`, `schema`: the size of the data, and its nine tables
//! - `population`: the rows before the first transaction
//! - `transaction`: the five transactions, their inputs and outputs
//! - `mix`, `pacing`: which transaction is next, and when
//! - `consistency`: the conditions that hold between transactions, as SQL
//! - [`wire`]: all of it as bytes, for servers that perform transactions and their clients
//!
//! Pure: random numbers come from [`units::Rng`], times are arguments.

mod amount;
mod consistency;
mod mix;
mod pacing;
mod population;
mod random;
mod run_constants;
mod scale;
mod schema;
mod transaction;
pub mod wire;

pub use amount::{BasisPoints, Cents, order_total};
pub use consistency::{ConsistencyCondition, OrderTotals};
pub use mix::{CardDeck, TransactionMix, TransactionSelector};
pub use pacing::Pacing;
pub use population::{
    Credit, CustomerRow, DistrictKey, DistrictRow, HistoryRow, ItemRow, NewOrderRow, OrderLineRow, OrderRow,
    Population, PostalAddress, StockRow, WarehouseRow,
};
pub use random::{NuRand, ShortText, is_original, last_name};
pub use run_constants::RunConstants;
pub use scale::{DISTRICTS, DIVISORS, DataScale, DataScaleError, LINES_MAX, LINES_MIN, WAREHOUSES_MAX};
pub use schema::{ColumnType, IndexSchema, OrderTable, TableColumn, TableSchema};
pub use transaction::{
    CustomerDetails, CustomerSelector, DeliveryInput, DeliveryOutput, InputGenerator, NewOrderInput,
    NewOrderOutput, OrderDetails, OrderStatusInput, OrderStatusLine, OrderStatusOutput, OrderedItem,
    OrderedItems, PaymentInput, PaymentOutput, PlacedOrder, PricedLine, RECENT_ORDERS, RolledBackOrder,
    StockLevelInput, StockLevelOutput, Terminal, TransactionInput, TransactionKind, TransactionOutput,
    TransactionType, bad_credit_data, history_data, next_quantity,
};
