//! The three forms of SQL, as PostgreSQL has them.

use model::OrderSql;
use orders::{TransactionInput, TransactionType};
use units::WallTime;

use super::batched::{self, BatchedStatements};
use super::stored::{self, StoredStatements};
use crate::database::failure::SqlFailure;
use crate::database::postgres::wire::{Statement, Wire};
use crate::database::transaction::CommitMode;
use crate::orders::sql::batched::{delivery, new_order, stock_level};
use crate::orders::sql::client::{self, ClientStatements};
use crate::orders::sql::output::TransactionEnd;
use crate::orders::sql::reading::{self, ReadingStatements};
use crate::orders::sql::session::SqlForms;

/// The prepared statements of a form.
pub(crate) enum PostgresForms {
    Client(Box<ClientStatements<Statement>>, Box<ReadingStatements<Statement>>),
    Batched(Box<BatchedStatements>, Box<ReadingStatements<Statement>>),
    Stored(Box<StoredStatements<Statement>>),
}

impl SqlForms for PostgresForms {
    type Connection = Wire;

    async fn prepare(form: OrderSql, wire: &mut Wire) -> Result<PostgresForms, SqlFailure> {
        Ok(match form {
            OrderSql::Client => PostgresForms::Client(
                Box::new(ClientStatements::prepare(wire).await?),
                Box::new(ReadingStatements::prepare(wire).await?),
            ),
            OrderSql::Batched => PostgresForms::Batched(
                Box::new(BatchedStatements::prepare(wire).await?),
                Box::new(ReadingStatements::prepare(wire).await?),
            ),
            // Requests of our own protocol are none of PostgreSQL: what comes next to them is a call.
            OrderSql::Stored | OrderSql::Request => {
                PostgresForms::Stored(Box::new(StoredStatements::prepare(wire).await?))
            }
        })
    }

    fn is_one_statement(&self, input: &TransactionInput) -> bool {
        matches!(
            (self, input),
            (PostgresForms::Stored(_), _) | (PostgresForms::Batched(..), TransactionInput::StockLevel(_))
        )
    }

    fn begin(input: &TransactionInput) -> &'static str {
        match input.kind().transaction_type() {
            TransactionType::NewOrder | TransactionType::Payment | TransactionType::Delivery => "BEGIN",
            TransactionType::OrderStatus => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            TransactionType::StockLevel => "BEGIN READ ONLY",
        }
    }

    async fn perform(
        &self,
        wire: &mut Wire,
        input: &TransactionInput,
        now: WallTime,
        _: CommitMode,
    ) -> Result<TransactionEnd, SqlFailure> {
        use TransactionInput::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
        match (self, input) {
            (PostgresForms::Stored(sql), input) => {
                stored::call(wire, sql, input, now).await.map(TransactionEnd::Commit)
            }
            (PostgresForms::Client(sql, _), NewOrder(input)) => {
                client::new_order(wire, sql, input, now).await
            }
            (PostgresForms::Client(sql, _), Payment(input)) => client::payment(wire, sql, input, now).await,
            (PostgresForms::Client(sql, _), Delivery(input)) => client::delivery(wire, sql, input, now).await,
            (PostgresForms::Client(_, sql), StockLevel(input)) => {
                reading::stock_level(wire, sql, input).await
            }
            (PostgresForms::Batched(sql, _), NewOrder(input)) => new_order(wire, &**sql, input, now).await,
            (PostgresForms::Batched(sql, _), Payment(input)) => batched::payment(wire, sql, input, now).await,
            (PostgresForms::Batched(sql, _), Delivery(input)) => delivery(wire, &**sql, input, now).await,
            (PostgresForms::Batched(sql, _), StockLevel(input)) => {
                stock_level(wire, &**sql, input).await.map(TransactionEnd::Commit)
            }
            (PostgresForms::Client(_, sql) | PostgresForms::Batched(_, sql), OrderStatus(input)) => {
                reading::order_status(wire, sql, input).await
            }
        }
    }
}
