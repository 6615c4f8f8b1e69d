//! A session's connection: requests, one at a time, and the round trips that they take.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::types::ToSql;
use tokio_postgres::{
    CancelToken, Client, Config, Connection, Error, NoTls, Row, SimpleQueryMessage, Statement,
};

use super::failure::{SqlFailure, WRONG_ROWS};
use super::stream::{MeteredStream, ServerSocket, StreamBytes};

/// The most notices of the server that one request may bring.
const NOTICES_MAX: u32 = 10_000;

/// The number of notices after which others on this thread have their turn.
const NOTICES_PER_TURN: u32 = 64;

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection with the client that makes requests on it. It is polled by the task that waits for a reply, and by no
/// other: between transactions nothing is expected.
pub(super) struct Wire {
    client: Client,
    connection: Box<Connection<MeteredStream, NoTlsStream>>,
    bytes: Rc<StreamBytes>,
    n_round_trips: u64,
}

impl Wire {
    /// Connects and introduces itself.
    pub(super) async fn open(server: &ServerSocket, config: &Config) -> Result<Wire, SqlFailure> {
        let stream = server.connect().await?;
        let bytes = Rc::clone(&stream.bytes);
        let (client, connection) = config.connect_raw(stream, NoTls).await?;
        Ok(Wire { client, connection: Box::new(connection), bytes, n_round_trips: 0 })
    }

    /// Returns the number of requests so far that were answered, or are waited for.
    pub(super) fn n_round_trips(&self) -> u64 {
        self.n_round_trips
    }

    /// Returns the bytes sent and received so far.
    pub(super) fn bytes(&self) -> (u64, u64) {
        self.bytes.get()
    }

    /// Returns what it takes to cancel a request.
    pub(super) fn cancel_token(&self) -> CancelToken {
        self.client.cancel_token()
    }

    /// Prepares a statement.
    pub(super) async fn prepare(&mut self, sql: &str) -> Result<Statement, SqlFailure> {
        self.n_round_trips += 1;
        drive(&mut self.connection, self.client.prepare(sql)).await
    }

    /// Returns the rows of a statement.
    pub(super) async fn rows(
        &mut self,
        statement: &Statement,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, SqlFailure> {
        self.n_round_trips += 1;
        drive(&mut self.connection, self.client.query(statement, parameters)).await
    }

    /// Returns the row of a statement that has one at most.
    pub(super) async fn optional(
        &mut self,
        statement: &Statement,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, SqlFailure> {
        let mut rows = self.rows(statement, parameters).await?;
        match rows.len() {
            0 | 1 => Ok(rows.pop()),
            _ => Err(SqlFailure::WrongResult(WRONG_ROWS)),
        }
    }

    /// Returns the row of a statement that must have one.
    pub(super) async fn one(
        &mut self,
        statement: &Statement,
        parameters: Parameters<'_>,
    ) -> Result<Row, SqlFailure> {
        self.optional(statement, parameters).await?.ok_or(SqlFailure::WrongResult(WRONG_ROWS))
    }

    /// Executes a statement that must change as many rows.
    pub(super) async fn change(
        &mut self,
        n_rows: u64,
        statement: &Statement,
        parameters: Parameters<'_>,
    ) -> Result<(), SqlFailure> {
        self.n_round_trips += 1;
        let n_changed = drive(&mut self.connection, self.client.execute(statement, parameters)).await?;
        if n_changed == n_rows { Ok(()) } else { Err(SqlFailure::WrongResult(WRONG_ROWS)) }
    }

    /// Executes statements without parameters.
    pub(super) async fn command(&mut self, sql: &str) -> Result<(), SqlFailure> {
        self.n_round_trips += 1;
        drive(&mut self.connection, self.client.batch_execute(sql)).await
    }

    /// Returns the rows of a query without parameters, each value as a text.
    pub(super) async fn texts(
        &mut self,
        sql: &str,
    ) -> Result<Vec<Vec<(String, Option<String>)>>, SqlFailure> {
        self.n_round_trips += 1;
        let messages = drive(&mut self.connection, self.client.simple_query(sql)).await?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let values = rows.map(|row| {
            let names = row.columns().iter().map(|column| column.name().to_owned());
            let text = |index| row.try_get(index).ok().flatten().map(str::to_owned);
            names.enumerate().map(|(index, name)| (name, text(index))).collect()
        });
        Ok(values.collect())
    }

    /// Returns client and connection, for requests that [`drive`] drives.
    pub(super) fn parts(&mut self) -> (&Client, &mut Connection<MeteredStream, NoTlsStream>) {
        (&self.client, &mut self.connection)
    }
}

/// Waits for the result of a request, and polls its connection meanwhile.
pub(super) async fn drive<T>(
    connection: &mut Connection<MeteredStream, NoTlsStream>,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, SqlFailure> {
    let mut request = pin!(request);
    let mut n_notices = 0;
    poll_fn(|context| {
        loop {
            if let Poll::Ready(result) = request.as_mut().poll(context) {
                return Poll::Ready(result.map_err(SqlFailure::from));
            }
            let failure = match connection.poll_message(context) {
                Poll::Pending => return Poll::Pending,
                // A notice. We listen to no channel.
                Poll::Ready(Some(Ok(_))) => {
                    n_notices += 1;
                    if NOTICES_MAX < n_notices {
                        return Poll::Ready(Err(SqlFailure::notices()));
                    }
                    if n_notices % NOTICES_PER_TURN == 0 {
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    continue;
                }
                Poll::Ready(Some(Err(error))) => SqlFailure::from(error),
                Poll::Ready(None) => SqlFailure::closed(),
            };
            // The reply, or the reason of the end, may have arrived just before it.
            let last = match request.as_mut().poll(context) {
                Poll::Ready(Ok(done)) => return Poll::Ready(Ok(done)),
                Poll::Ready(Err(error)) => SqlFailure::from(error),
                Poll::Pending => return Poll::Ready(Err(failure)),
            };
            return Poll::Ready(Err(match last {
                SqlFailure::Refused(_) => last,
                _ => failure,
            }));
        }
    })
    .await
}

/// Declares the prepared statements of a form of SQL: a field for each, and the statement that it is.
macro_rules! statements {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $sql:expr,)+ }) => {
        $(#[$doc])*
        pub(super) struct $name {
            $($field: tokio_postgres::Statement,)+
        }

        impl $name {
            /// Prepares all of them.
            pub(super) async fn prepare(
                wire: &mut super::wire::Wire,
            ) -> Result<$name, super::failure::SqlFailure> {
                Ok($name { $($field: wire.prepare($sql).await?,)+ })
            }
        }
    };
}
pub(super) use statements;
