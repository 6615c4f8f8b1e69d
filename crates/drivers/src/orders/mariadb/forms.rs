//! The three forms of SQL, as MariaDB has them.

use model::OrderSql;
use orders::{TransactionInput, TransactionType};
use units::WallTime;

use super::batched::{self, BatchedStatements};
use super::stored::{self, StoredStatements};
use crate::database::failure::SqlFailure;
use crate::database::mariadb::wire::{Statement, Wire};
use crate::database::transaction::CommitMode;
use crate::orders::sql::batched::{delivery, new_order, stock_level};
use crate::orders::sql::client::{self, ClientStatements};
use crate::orders::sql::output::TransactionEnd;
use crate::orders::sql::reading::{self, ReadingStatements};
use crate::orders::sql::session::SqlForms;

/// The prepared statements of a form.
pub(crate) enum MariaDbForms {
    Client(Box<ClientStatements<Statement>>, Box<ReadingStatements<Statement>>),
    Batched(Box<BatchedStatements>, Box<ReadingStatements<Statement>>),
    Stored(Box<StoredStatements<Statement>>),
}

impl SqlForms for MariaDbForms {
    type Connection = Wire;

    async fn prepare(form: OrderSql, wire: &mut Wire) -> Result<MariaDbForms, SqlFailure> {
        Ok(match form {
            OrderSql::Client => MariaDbForms::Client(
                Box::new(ClientStatements::prepare(wire).await?),
                Box::new(ReadingStatements::prepare(wire).await?),
            ),
            OrderSql::Batched => MariaDbForms::Batched(
                Box::new(BatchedStatements::prepare(wire).await?),
                Box::new(ReadingStatements::prepare(wire).await?),
            ),
            OrderSql::Stored | OrderSql::Request => {
                MariaDbForms::Stored(Box::new(StoredStatements::prepare(wire).await?))
            }
        })
    }

    fn is_one_statement(&self, input: &TransactionInput) -> bool {
        matches!(
            (self, input),
            (MariaDbForms::Stored(_), _) | (MariaDbForms::Batched(..), TransactionInput::StockLevel(_))
        )
    }

    fn begin(input: &TransactionInput) -> &'static str {
        match input.kind().transaction_type() {
            TransactionType::NewOrder | TransactionType::Payment | TransactionType::Delivery => {
                "START TRANSACTION"
            }
            TransactionType::OrderStatus | TransactionType::StockLevel => "START TRANSACTION READ ONLY",
        }
    }

    async fn perform(
        &self,
        wire: &mut Wire,
        input: &TransactionInput,
        now: WallTime,
        changes: CommitMode,
    ) -> Result<TransactionEnd, SqlFailure> {
        use TransactionInput::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
        match (self, input) {
            // A procedure begins and ends its transaction itself.
            (MariaDbForms::Stored(sql), input) => {
                stored::call(wire, sql, input, now, changes).await.map(TransactionEnd::Commit)
            }
            (MariaDbForms::Client(sql, _), NewOrder(input)) => client::new_order(wire, sql, input, now).await,
            (MariaDbForms::Client(sql, _), Payment(input)) => client::payment(wire, sql, input, now).await,
            (MariaDbForms::Client(sql, _), Delivery(input)) => client::delivery(wire, sql, input, now).await,
            (MariaDbForms::Client(_, sql), StockLevel(input)) => reading::stock_level(wire, sql, input).await,
            (MariaDbForms::Batched(sql, _), NewOrder(input)) => new_order(wire, &**sql, input, now).await,
            (MariaDbForms::Batched(sql, _), Payment(input)) => batched::payment(wire, sql, input, now).await,
            (MariaDbForms::Batched(sql, _), Delivery(input)) => delivery(wire, &**sql, input, now).await,
            (MariaDbForms::Batched(sql, _), StockLevel(input)) => {
                stock_level(wire, &**sql, input).await.map(TransactionEnd::Commit)
            }
            (MariaDbForms::Client(_, sql) | MariaDbForms::Batched(_, sql), OrderStatus(input)) => {
                reading::order_status(wire, sql, input).await
            }
        }
    }
}
